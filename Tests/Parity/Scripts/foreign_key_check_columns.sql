-- PRAGMA foreign_key_check reads the columns of the foreign keys alone: such behind the 63rd, generated ones, those of the key.
create table p(a integer primary key, b text unique, c collate nocase unique); insert into p values(1,'x','y'),(2,'z','W');
create table ch(c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,c21,c22,c23,c24,c25,c26,c27,c28,c29,c30,c31,c32,c33,c34,c35,c36,c37,c38,c39,c40,c41,c42,c43,c44,c45,c46,c47,c48,c49,c50,c51,c52,c53,c54,c55,c56,c57,c58,c59,c60,c61,c62,c63,c64,c65,c66,c67,c68,c69, foreign key(c69) references p(a), foreign key(c65,c3) references p(a,b), foreign key(c2) references p(c));
create table g(k text primary key, v generated always as (k||'x') virtual references p(b), s generated always as (k) stored references p(c), w references p) without rowid;
insert into ch(c69,c2) values(1,'w'),(3,'Y'),('2','q'),(x'01','y'),(null,null);
insert into g(k,w) values('',1),('x',2),('z',9),('w','2'),(x'00',1.0);
pragma foreign_key_check(g);
pragma foreign_key_check('p');
pragma foreign_key_list(ch);
drop table ch; create table ch(c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,c21,c22,c23,c24,c25,c26,c27,c28,c29,c30,c31,c32,c33,c34,c35,c36,c37,c38,c39,c40,c41,c42,c43,c44,c45,c46,c47,c48,c49,c50,c51,c52,c53,c54,c55,c56,c57,c58,c59,c60,c61,c62,c63,c64,c65,c66,c67,c68,c69, foreign key(c69) references p(a), foreign key(c2) references p(c));
insert into ch(c69,c2) values(1,'w'),(3,'Y'),('2','q'),(x'01','y'),(null,null);
pragma foreign_key_check;
