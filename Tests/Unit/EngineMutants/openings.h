/*
** openings.h - engines that open a store wrongly, on the sound engine (mutants.c includes this).
*/
static int open_over(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                     rootstock_environment **e, char **message) {
    int code = sound.open(engine, path, options, e, message);
    if (code != ROOTSTOCK_NOT_A_STORE && code != ROOTSTOCK_CORRUPT) return code;
    unlink(path);
    free(*message);
    return sound.open(engine, path, options, e, message);
}
static int open_silent(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                       rootstock_environment **e, char **message) {
    int code = sound.open(engine, path, options, e, message);
    if (code != ROOTSTOCK_OK && message != NULL) {
        free(*message);
        *message = NULL;
    }
    return code;
}
/* A directory where a file should be passes for an I/O failure. */
static int open_directory(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                          rootstock_environment **e, char **message) {
    struct stat status;
    int code = sound.open(engine, path, options, e, message);
    return code != ROOTSTOCK_OK && stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? ROOTSTOCK_IO : code;
}
/* Durability full is what normal is. */
static int open_unflushed(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                          rootstock_environment **e, char **message) {
    rootstock_options less = *options;
    less.durability = ROOTSTOCK_DURABILITY_NORMAL;
    return sound.open(engine, path, &less, e, message);
}
/* Any durability is off, by system calls: nothing keeps the order of what reaches the disk. */
static int open_off(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                    rootstock_environment **e, char **message) {
    rootstock_options less = *options;
    less.durability = ROOTSTOCK_DURABILITY_OFF;
    less.write_map = ROOTSTOCK_WRITE_MAP_NEVER;
    return sound.open(engine, path, &less, e, message);
}
