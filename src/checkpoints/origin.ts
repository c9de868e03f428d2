/** Origin of a checkpoint that has moved since its start was resolved. */
export const savedOrigin = 'checkpoint';

/** Origin of a partition that was added to its topic after the start was resolved. */
export const addedOrigin = 'start: beginning (partition added later)';
