/* An engine that is linked here, held against the contract: for engines under sanitizers, which no command can load. */
#include <stdio.h>

#include "rootstock_engine_test.h"

const rootstock_engine *rootstock_engine_init(uint32_t abi);

static void tell(void *context, const rootstock_engine_test_result *result) {
    (void)context;
    if (result->outcome == ROOTSTOCK_ENGINE_TEST_FAILED)
        printf("%s: broken\n  %s\n  %s\n", result->rule, result->sentence, result->words);
}

int main(void) {
    rootstock_engine_test_options options = {.report = tell, .seconds = 60};
    const rootstock_engine *engine = rootstock_engine_init(ROOTSTOCK_ENGINE_ABI);
    if (engine == NULL || rootstock_engine_register(engine) != ROOTSTOCK_OK) return 1;
    return rootstock_engine_test(engine, &options) != 0;
}
