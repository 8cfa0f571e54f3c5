export class TitleFold {
  addBytes(_hash: Uint8Array): void {}
}
