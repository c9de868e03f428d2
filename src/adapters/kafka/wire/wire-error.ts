/** Bytes are not what the protocol says. Translated where it is known what was read. */
export class WireError extends Error {}
