/** The compiler in JavaScript, which packages that build syntax trees import as `typescript`. */
// biome-ignore lint/style/noDefaultExport: the packages import the default.
export { ts as default } from '@ts-morph/common';
