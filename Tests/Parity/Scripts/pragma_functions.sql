-- Pragma functions in FROM.
CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES(1,2);
SELECT * FROM pragma_user_version; SELECT user_version FROM pragma_user_version v, t; SELECT v.user_version FROM pragma_user_version AS v; PRAGMA user_version=5; SELECT pragma_user_version.user_version FROM pragma_user_version; SELECT name FROM pragma_database_list; SELECT integrity_check FROM pragma_integrity_check; SELECT * FROM pragma_quick_check, pragma_application_id; SELECT (SELECT user_version FROM pragma_user_version)+1; SELECT count(*) FROM pragma_function_list WHERE name='abs' AND narg=1; SELECT * FROM pragma_foreign_keys; SELECT count(*)>0 FROM pragma_compile_options; SELECT name FROM pragma_collation_list ORDER BY 1;
-- In a list, and with the function's name before a column's.
PRAGMA user_version = 7;
SELECT 7 IN pragma_user_version, 0 IN pragma_user_version;
CREATE TABLE qualified(a INTEGER PRIMARY KEY, b);
SELECT pragma_table_info.name, pk FROM pragma_table_info('qualified') ORDER BY 1;
SELECT 1 FROM pragma_index_list('qualified') WHERE pragma_index_list.name IS NULL;
