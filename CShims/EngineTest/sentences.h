/*
** sentences.h - the sentences of rootstock_engine.h that the rules hold an engine to, word for word.
**
** Invariant: each stands in the header as it stands here, but for line ends and spaces (EngineKitTests compares them).
*/
#ifndef ROOTSTOCK_ENGINE_TEST_SENTENCES_H
#define ROOTSTOCK_ENGINE_TEST_SENTENCES_H

#define SENTENCES(X)                                                                                                   \
    X(S_CODES, "Every function that can fail returns a rootstock_code.")                                               \
    X(S_ORDER, "Keys compare as memcmp does, a proper prefix first.")                                                  \
    X(S_SIZES, "A key has at least 1 byte and at most maximum_key_size() bytes; a value has 0 to 2^31-1 bytes.")       \
    X(S_KEY_TOO_LONG, "longer than maximum_key_size(), or empty")                                                      \
    X(S_READ_SLICES, "In a read transaction it stays valid and unmoved until the transaction is reset, committed or "  \
                     "aborted.")                                                                                       \
    X(S_BRIEF_CURSOR, "A slice of a cursor then stays valid until that cursor's next move, renew or close.")           \
    X(S_BRIEF_GET, "In a read transaction a slice of get stays valid until the transaction's next get, and those of "  \
                   "get_several until its next get_several.")                                                          \
    X(S_OWN_KEY, "For SEEK and EXACT *key is the key sought, which may be a slice that this cursor gave")              \
    X(S_WRITE_SLICES, "In a write transaction it stays valid until the next put, delete or clear in that transaction") \
    X(S_THREADS, "The engine must never let two threads' snapshots disturb each other.")                               \
    X(S_SNAPSHOT, "A read transaction sees the last commit before its begin (or renew), whole, and nothing later.")    \
    X(S_OWN_WRITES, "A write transaction sees its own writes.")                                                        \
    X(S_ABORT, "Abort leaves no trace. Commit is atomic, and as durable as the options ask.")                          \
    X(S_DESCRIBE, "describe() gives the text of the calling thread's last failure in that environment.")               \
    X(S_HANDLE, "valid for the life of the environment in every transaction in which the tree exists.")                \
    X(S_NO_TREE, "no such key, or the cursor ran off its end, or no such tree")                                        \
    X(S_READ_ONLY, "a write on a read-only environment or file")                                                       \
    X(S_NO_OVERWRITE, "ROOTSTOCK_EXISTS if the key is there; nothing is changed")                                      \
    X(S_APPEND, "the key is above every key of the tree; if not: ROOTSTOCK_EXISTS, nothing changed")                   \
    X(S_RESERVE, "value.data is set to value.size bytes to be filled before the next call")                            \
    X(S_CLEAR, "Empties the tree; its handle stays good.")                                                             \
    X(S_RENEW, "reset gives a read transaction's snapshot back and keeps the object; renew takes the newest snapshot " \
               "with it.")                                                                                             \
    X(S_IDENTIFIER, "Of a read transaction: identifier of the commit it sees. Of a write transaction: that commit's "  \
                    "plus one.")                                                                                       \
    X(S_CURSOR_RENEW, "Attaches a cursor of a reset and renewed (or another) read transaction again. It is "           \
                      "unpositioned afterwards.")                                                                      \
    X(S_NEXT_NOWHERE, "from an unpositioned cursor: as FIRST")                                                         \
    X(S_PREVIOUS_NOWHERE, "from an unpositioned cursor: as LAST")                                                      \
    X(S_FIRST, "to the lowest key")                                                                                    \
    X(S_LAST, "to the highest key")                                                                                    \
    X(S_SEEK, "to the first key >= *key")                                                                              \
    X(S_EXACT, "to *key, or ROOTSTOCK_NOT_FOUND")                                                                      \
    X(S_UNPOSITIONED, "After ROOTSTOCK_NOT_FOUND the cursor is unpositioned.")                                         \
    X(S_UNDISTURBED, "NEXT gives the first key above the one last returned, and PREVIOUS the last below it, even if"   \
                     " that one was removed.")                                                                         \
    X(S_READERS, "live read transactions, of all processes")                                                           \
    X(S_LAST_TRANSACTION, "identifier of the last commit")                                                             \
    X(S_LAG, "commits since the oldest live snapshot; 0 without readers")                                              \
    X(S_CHECK_READERS, "Clears the slots of readers whose process died; *cleared may be null.")                        \
    X(S_COPY, "Writes a consistent copy of the last commit to a new file, compacted, and syncs it.")                   \
    X(S_COPY_EXISTS, "A file that exists is never touched: ROOTSTOCK_CANNOT_OPEN.")                                    \
    X(S_COPY_STOP, "On failure the new file is gone again. stop is a failure, too.")                                   \
    X(S_COMPACT, "Entries, trees and handles stay as they are.")                                                       \
    X(S_LAST_COMMIT, "Identifier of the newest commit of any process, without a transaction: the "                     \
                     "transaction_identifier of a read transaction begun now.")                                        \
    X(S_PUBLISH, "Everybody sees the commit then, and it is atomic.")                                                  \
    X(S_PEEK, "The keys ahead of a positioned cursor in a read transaction, in the direction ROOTSTOCK_NEXT or "       \
              "ROOTSTOCK_PREVIOUS.")                                                                                   \
    X(S_PEEK_STAYS, "The cursor stays where it is. Later moves give the same bytes at the same addresses.")            \
    X(S_SEVERAL, "As get for each of the keys, in a read transaction. values[i] is set; its data is null where the "   \
                 "key is not there.")                                                                                  \
    X(S_SKIP, "The cursor stays positioned, as after as many moves.")                                                  \
    X(S_BUSY, "Asked by begin each time the writer of another process is in the way; attempts counts from 0.")         \
    X(S_BUSY_NULL, "A null callback gives up at once.")                                                                \
    X(S_SURVIVES, "What a commit survives.")                                                                           \
    X(S_POWER_FULL, "full: every commit survives a power loss.")                                                       \
    X(S_POWER_NORMAL, "normal: a power loss takes at most the last commits, whole and from the last one back, never "  \
                      "the file.")                                                                                     \
    X(S_OPEN_TOGETHER, "Several processes may open a new path at once: one makes the store, and all open it.")         \
    X(S_OPEN_MESSAGE, "On failure *message, if not null, gets a malloc'd text naming path, the fault and the "         \
                      "remedy.")                                                                                       \
    X(S_OPTIONS, "A name or value that the engine does not know is ROOTSTOCK_UNSUPPORTED, with what it knows.")        \
    X(S_NOT_A_STORE, "the file is not of this engine")                                                                 \
    X(S_CANNOT_OPEN, "no such directory, a directory where a file should be ...")                                      \
    X(S_FULL, "disk or map full; the write transaction can only be aborted")                                           \
    X(S_FORK, "After fork the child's close frees memory and touches no file lock.")                                   \
    X(S_ONE_PROCESS, "a second process cannot open the environment")                                                   \
    X(S_VERIFY, "Checks what holds the trees together in the read transaction's snapshot")                             \
    X(S_ENTRIES, "entries of the tree as the transaction sees it, exact")                                              \
    X(S_DEPTH, "at least 1 in a tree with entries")                                                                    \
    X(S_MANY,                                                                                                          \
      "any number of write transactions go on at once, of this process and of others, and begin does not wait "        \
      "for one.")                                                                                                      \
    X(S_MANY_ORDER, "The committed ones have an order in which each could have been alone: what it read, and what it " \
                    "did not find, is what those before it in the order have left.")                                   \
    X(S_MANY_REFUSED, "Nothing of a refused one remains, and begun again it may succeed.")                             \
    X(S_MANY_NEW, "Should it be there: ROOTSTOCK_EXISTS, nothing changed, or ROOTSTOCK_CONFLICT")                      \
    X(S_RESTART, "Undoes all that the write transaction has changed since its begin, and keeps its snapshot")          \
    X(S_EMPTY_COMMIT, "A write transaction that changed nothing may count as a commit, or not")

#define DECLARE(name, text) static const char name[] __attribute__((unused)) = text;
SENTENCES(DECLARE)
#undef DECLARE

#endif
