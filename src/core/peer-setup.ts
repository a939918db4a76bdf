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
  /** The secrets whose values lie in the files of the other program. */
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
  /** The name of the file, relative to the folder of the configuration, that the tree refers to at that path. */
  readonly file: string
  /** The variable by which the other program knows it; where it is set, `${env:NAME}` may stand at the path instead. */
  readonly variable?: string
  /** The place from which it is read, for people. */
  readonly from: string
  /** Returns the value. It belongs into a file of mode 0600, and nowhere else. */
  read(this: void): Promise<string>
}

export interface PeerFile {
  readonly name: string
  readonly text: string
}
