/** Where Bull Board is. */
export const BOARD_PATH = '/queue';
