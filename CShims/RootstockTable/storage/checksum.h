/*
** checksum.h - the checksum that a store may keep with every entry of its trees.
**
** A store made with the option `checksum` is of format 2. 4 bytes of CRC-32C follow each value, of rows, of index
** entries and of the catalog. The CRC is over the tree's number (4 bytes; 0 is the catalog), the key and the value, as
** the engine has them. Both numbers are little-endian.
**
** rst_put appends a checksum, and whatever reads from the engine takes it off: above this layer nobody sees one. A
** connection whose store has none has no `crc`. The common paths ask once for both long keys and checksums:
** second_look is 0 where every entry needs another look.
*/
#ifndef ROOTSTOCK_CHECKSUM_H
#define ROOTSTOCK_CHECKSUM_H

#include "rootstock_crc.h"

enum { CHECKSUM_SIZE = 4 };

#endif
