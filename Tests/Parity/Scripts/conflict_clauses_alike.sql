-- ON CONFLICT of constraints that differ in their collation only, or have more columns than most.
CREATE TABLE uc(a, b, UNIQUE(a) ON CONFLICT IGNORE, UNIQUE(a COLLATE nocase) ON CONFLICT REPLACE);
INSERT INTO uc VALUES('x', 1);
INSERT INTO uc VALUES('X', 2);
INSERT INTO uc VALUES('X', 3);
SELECT * FROM uc;
CREATE TABLE ud(a COLLATE nocase UNIQUE ON CONFLICT IGNORE, b, UNIQUE(a COLLATE "binary", b) ON CONFLICT REPLACE, UNIQUE(b, a) ON CONFLICT FAIL);
INSERT INTO ud VALUES('x', 1);
INSERT INTO ud VALUES('X', 2), ('y', 1), ('Y', 3);
SELECT * FROM ud;
CREATE TABLE ue(a TEXT COLLATE rtrim, b, PRIMARY KEY(a COLLATE nocase, b) ON CONFLICT REPLACE, UNIQUE(a, b) ON CONFLICT IGNORE);
INSERT INTO ue VALUES('k', 1);
INSERT INTO ue VALUES('K', 1);
INSERT INTO ue VALUES('K  ', 1);
SELECT quote(a), b FROM ue;
CREATE TABLE wide(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52, c53, c54, c55, c56, c57, c58, c59, c60, c61, c62, c63, c64, c65, c66, c67, c68, c69, UNIQUE(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52, c53, c54, c55, c56, c57, c58, c59, c60, c61, c62, c63, c64, c65, c66, c67, c68, c69) ON CONFLICT IGNORE);
INSERT INTO wide VALUES(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
INSERT INTO wide VALUES(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
SELECT count(*) FROM wide;
