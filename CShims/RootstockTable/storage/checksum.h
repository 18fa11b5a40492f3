/*
** checksum.h - the checksum that a store may keep with every entry of its trees.
**
** A store made with the option `checksum` is of format 2: each value, of rows, of index entries and of the catalog, is
** followed by 4 bytes, little-endian, of CRC-32C over the tree's number (4 bytes, little-endian; 0 is the catalog), the
** key and the value, as the engine has them. They are put on in rst_put and taken off wherever the table layer reads
** from the engine; above that nobody sees them. A connection whose store has none has no `crc`, and the common paths
** ask nothing more of it: where they look for long keys they use second_look, which is 0 where every entry needs
** another look.
*/
#ifndef ROOTSTOCK_CHECKSUM_H
#define ROOTSTOCK_CHECKSUM_H

#include "rootstock_crc.h"

enum { CHECKSUM_SIZE = 4 };

#endif
