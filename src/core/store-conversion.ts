/** The forms between which a store is converted (C48). */
export type StoreForm = 'plain' | 'encrypted'

/** The result of an encryption or a decryption. */
export interface ConversionReport {
  readonly form: StoreForm
  /** Database files that were converted. */
  readonly databases: readonly string[]
  /** The number of files of conversations that were converted. */
  readonly files: number
  /** Files that stay as they are or were not overwritten, each with the reason. */
  readonly left: readonly string[]
}

export interface ConvertOptions {
  readonly to: StoreForm
  readonly progress?: (this: void, done: number, all: number) => void
}
