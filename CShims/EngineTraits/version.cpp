/*
** version.cpp - RocksDB's version, which its headers have in C++ alone.
*/
#ifdef ROOTSTOCK_TRAIT_ROCKSDB
#include <rocksdb/version.h>

#define TEXT(number) #number
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

extern "C" {
extern const char rootstock_rocksdb_version[];
const char rootstock_rocksdb_version[] = VERSION(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
}
#endif
