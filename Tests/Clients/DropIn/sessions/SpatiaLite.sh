#!/bin/bash
# SpatiaLite, a loadable extension with tables, triggers and R-Trees of its own: layers, spatial indexes, topologies, copies and renames.
set -u
export HOME=$PWD LC_ALL=C
spatialite -silent town.db <<'SQL' 2>&1
SELECT InitSpatialMetadata(1, 'WGS84_ONLY');
CREATE TABLE town (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, peoples INTEGER);
SELECT AddGeometryColumn('town','geom',4326,'POINT','XY');
INSERT INTO town(name,peoples,geom) VALUES ('a',10,MakePoint(1,2,4326)),('b',20,MakePoint(3,4,4326));
INSERT INTO town(name,peoples,geom) VALUES ('bad',10,MakePoint(1,2,3857));
SELECT CreateSpatialIndex('town','geom');
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<300) INSERT INTO town(name,peoples,geom) SELECT 'n'||x, x, MakePoint(x%20, x/20, 4326) FROM c;
SELECT count(*) FROM town WHERE ROWID IN (SELECT ROWID FROM SpatialIndex WHERE f_table_name='town' AND search_frame=BuildMbr(2,2,5,5));
SELECT name, AsText(geom) FROM town WHERE ROWID IN (SELECT pkid FROM idx_town_geom WHERE xmin>=2 AND xmax<=3 AND ymin>=2 AND ymax<=3) ORDER BY name;
CREATE TABLE road(id INTEGER PRIMARY KEY, name TEXT);
SELECT AddGeometryColumn('road','geom',4326,'LINESTRING','XY',1);
INSERT INTO road VALUES(1,'r1',GeomFromText('LINESTRING(0 0, 10 10, 20 0)',4326));
INSERT INTO road VALUES(2,'r2',NULL);
INSERT INTO road VALUES(3,'r3',GeomFromText('POINT(0 0)',4326));
SELECT t.name FROM town t, road r WHERE r.id=1 AND ST_Intersects(t.geom, r.geom) ORDER BY t.id LIMIT 10;
SELECT UpdateLayerStatistics();
SELECT table_name, row_count, extent_min_x, extent_max_y FROM vector_layers_statistics ORDER BY 1;
SELECT f_table_name,f_geometry_column,geometry_type,spatial_index_enabled FROM geometry_columns ORDER BY 1;
SELECT * FROM spatial_ref_sys WHERE srid=4326;
SELECT count(*) FROM spatial_ref_sys;
UPDATE town SET geom=MakePoint(100,100,4326) WHERE id=1;
DELETE FROM town WHERE id=2;
SELECT CheckSpatialIndex('town','geom');
SELECT RecoverSpatialIndex('town','geom');
SELECT pkid, xmin FROM idx_town_geom ORDER BY 1 LIMIT 3;
CREATE VIEW vtown AS SELECT id AS rowid, name, geom FROM town;
INSERT INTO views_geometry_columns VALUES('vtown','geom','rowid','town','geom',1);
SELECT * FROM vector_layers ORDER BY 1,2;
SELECT CreateMbrCache('road','geom');
SELECT rowid,* FROM cache_road_geom;
SELECT DisableSpatialIndex('town','geom');
SELECT DiscardGeometryColumn('road','geom');
SELECT RecoverGeometryColumn('road','geom',4326,'LINESTRING','XY');
SELECT CreateTopoTables();
SELECT CreateTopology('topo', 4326, 0, 0);
SELECT ST_AddIsoNode('topo', NULL, MakePoint(1,1,4326));
SELECT ST_AddIsoNode('topo', NULL, MakePoint(2,2,4326));
SELECT ST_AddIsoEdge('topo', 1, 2, GeomFromText('LINESTRING(1 1, 1.5 1.7, 2 2)',4326));
SELECT edge_id, start_node, end_node, AsText(geom) FROM topo_edge;
SELECT TopoGeo_AddLineString('topo', GeomFromText('LINESTRING(0 3, 4 3, 4 0, 0 3)',4326), 0);
SELECT node_id, AsText(geom) FROM topo_node;
SELECT face_id, AsText(mbr) FROM topo_face;
SELECT DropTopology('topo');
SELECT CloneTable('main','town','town2',1);
SELECT count(*) FROM town2;
SELECT RenameTable(NULL,'town2','town3');
SELECT RenameColumn(NULL,'town3','name','title');
SELECT DropTable(NULL,'town3');
SELECT CreateStylingTables();
SELECT CreateRasterCoveragesTable();
SELECT type, name, tbl_name FROM sqlite_master ORDER BY 1,2;
PRAGMA integrity_check;
PRAGMA foreign_key_check;
SELECT length(sql) FROM sqlite_master WHERE name LIKE '%town%' ORDER BY name;
.tables
SQL
head -c 15 town.db | grep -q 'SQLite format' || echo "$KIND"
