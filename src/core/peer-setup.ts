/** The programs whose folder `parley init --from` reads. */
export const PEER_KINDS = ['openclaw', 'hermes', 'nanoclaw'] as const

export type PeerKind = (typeof PEER_KINDS)[number]

/** The set-up of another program in the words of Parley's own configuration. */
export interface PeerSetup {
  /**
   * A plain tree that fits the schema of the configuration file, once each of `secrets` and `files` is written beside
   * it. A secret stands in it as `${env:NAME}` or as the `${file:…}` of one of `secrets`, never by itself.
   */
  readonly config: Readonly<Record<string, unknown>>
  /** The secrets whose values are known: from the files of the other program, or from variables that are set here. */
  readonly secrets: readonly PeerSecret[]
  /** The texts that the tree names by a path relative to the folder of the configuration, such as an agent's prompt. */
  readonly files: readonly PeerFile[]
  /** Each thing that was taken, a line for people each. */
  readonly taken: readonly string[]
  /** Each thing that was not, a line each: the thing, the reason, and the command or setting to use instead. */
  readonly notTaken: readonly string[]
}

export interface PeerSecret {
  /** The path of its setting: `['channels', 'telegram', 'accounts', 'default', 'token']`. */
  readonly path: readonly string[]
  /** The text that stands for it at that path. */
  readonly reference: string
  /** The name of the file to which it refers, relative to the folder of the configuration; absent for a variable. */
  readonly file?: string
  /** Returns the value, which belongs nowhere but into a file of mode 0600. */
  read(this: void): string
}

export interface PeerFile {
  readonly name: string
  readonly text: string
}
