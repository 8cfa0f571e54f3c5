/** Ten years: the hard bound of how far a sweep reaches back. The fold of each date is kept in memory. */
export const MAX_SWEEP_DAYS = 3652;
