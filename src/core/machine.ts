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
  /** It is killed after so long, and has failed. */
  readonly withinMs?: number
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

/** The places in which a store keeps its data, and the folder of compiled code. */
export interface DataPlaces {
  readonly path: string
  readonly dataDir: string
  readonly cache?: string | undefined
}

/** The data that Parley itself has written and can recognise. */
export interface OwnData {
  /** Files, sockets and links, the database last: without it nothing beside it is recognised any more. */
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly of: 'data' | 'cache' }[]
  /** Folders in which these files lie, the inner ones first. */
  readonly folders: readonly string[]
  /** Whatever else lies there: files of other programs and people, and the copies. */
  readonly left: readonly string[]
  /** Why nothing beside the database is recognised: it is none of Parley, or cannot be read. */
  readonly unknown?: string
}

/** Returns a text as one word of a shell, in single quotes where it needs them. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
