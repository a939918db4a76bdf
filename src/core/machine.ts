/** The machine for the commands that install, update and remove the program. */
export interface Machine {
  /** The word of Node for the system: linux, darwin, win32. */
  readonly platform: string
  /** The path of this Node that stays the same when its package is updated, where PATH has one. */
  readonly node: string
  /** The folder of the package: `dist`, `config` and `systemd` lie in it. */
  readonly program: string
  readonly user: { readonly name: string; readonly uid: number; readonly home: string }
  /** Resolves with the end of a command; with code 127 where there is no such command. */
  run(command: string, args: readonly string[], options?: RunOptions): Promise<Ran>
}

export interface RunOptions {
  readonly cwd?: string
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>
}

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export const NO_COMMAND = 127

/** The database of the configured store as a start would find it. */
export interface StoreSchema {
  readonly path: string
  readonly bytes: number
  /** The bytes that its disk has free. */
  readonly free: number
  /** The version of its schema, and the one that this program makes of it. */
  readonly schema: number
  readonly known: number
}
