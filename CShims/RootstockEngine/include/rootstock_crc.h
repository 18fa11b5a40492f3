/*
** rootstock_crc.h - CRC-32C (polynomial 0x1EDC6F41, reflected), as the table layer keeps it with entries and the LMDB
** engine with pages.
**
** Every function is pure: no state, no errors, any thread.
*/
#ifndef ROOTSTOCK_CRC_H
#define ROOTSTOCK_CRC_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what `crc` stands for and then these bytes; 0 stands for no bytes. */
typedef uint32_t (*rootstock_crc)(uint32_t crc, const void *bytes, size_t size);
/* By table, on any machine. */
uint32_t rootstock_crc_portable(uint32_t crc, const void *bytes, size_t size);
/* The fastest that this processor has: its own instruction, or the table. Never null. */
rootstock_crc rootstock_crc_best(void);

/* Of each of the `count` pieces, all of `size` bytes: sums[i] is rootstock_crc_best()(0, pieces[i], size). The
** instruction gives its result after three cycles and takes another operand in each: so three at a time. */
void rootstock_crc_of_pieces(const unsigned char *const *pieces, size_t count, size_t size, uint32_t *sums);

#endif
