/* A shared object without a policy. */
int tyto_nothing(void);
int tyto_nothing(void) { return 0; }
