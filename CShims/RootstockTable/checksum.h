/*
** checksum.h - the checksum that a store may keep with every entry of its trees, and CRC-32C itself.
**
** A store made with the option `checksum` is of format 2: each value, of rows, of index entries and of the catalog, is followed
** by 4 bytes, little-endian, of CRC-32C over the tree's number (4 bytes, little-endian; 0 is the catalog), the key and the
** value, as the engine has them. They are put on in rst_put and taken off wherever the table layer reads from the engine; above
** that nobody sees them. A connection whose store has none has no `crc`, and the common paths ask nothing more of it: where
** they look for long keys they use second_look, which is 0 where every entry needs another look.
*/
#ifndef ROOTSTOCK_CHECKSUM_H
#define ROOTSTOCK_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

enum { CHECKSUM_SIZE = 4 };

/* CRC-32C (polynomial 0x1EDC6F41, reflected) of what `crc` stands for and then these bytes; 0 stands for no bytes. Pure. */
typedef uint32_t (*rootstock_crc)(uint32_t crc, const void *bytes, size_t size);
/* By table, on any machine. */
uint32_t rootstock_crc_portable(uint32_t crc, const void *bytes, size_t size);
/* The fastest that this processor has: its own instruction, or the table. Never null. */
rootstock_crc rootstock_crc_best(void);

#endif
