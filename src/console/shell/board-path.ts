/** The path of Bull Board. */
export const BOARD_PATH = '/queue';
