import type { JsonBounds } from './read-json.ts'

const MB = 1024 * 1024

/**
 * The doors by which JSON from outside comes in, and what a text at each may hold. `readJson` refuses more before
 * anything walks it. `test/doors` sends each its worst text.
 */
export const DOORS = {
  /** A body of the API. */
  api: { bytes: MB, values: 20_000 },
  /** A body of a chat completion: pictures come inside, and a history may have thousands of parts. */
  chat: { bytes: 20 * MB, values: 60_000 },
  /** A body of a notification: files come inside. */
  notification: { bytes: 20 * MB, values: 20_000 },
  /**
   * A call of a hook from outside, of which the agent is shown the beginning. Nobody parses it. Grouped alerts of an
   * outage have megabytes, and a refusal would lose them; more would hold the loop for too long while it is hashed.
   */
  hook: { bytes: 10 * MB, values: 0 },
  /** The answer of a hook's program. */
  hookAnswer: { bytes: 256 * 1024, values: 20_000 },
  /**
   * A message of a tool server: an answer, a list, a notification. Trees of pages and programs are deep, lists of a
   * whole cluster come as values, and a schema of 500 levels shall cost its own tool alone.
   */
  toolServer: { bytes: 20_000_000, depth: 1_200, values: 100_000 },
  /** An answer of the server at which a tool server has people log in. */
  toolLogin: { bytes: 256_000, values: 5_000 },
  /** An event of a stream of a model server: some send a whole answer as one, with its pictures. */
  modelEvent: { bytes: 16 * MB, values: 50_000, halves: true },
  /** A whole answer of a model server. */
  modelAnswer: { bytes: 16 * MB, values: 50_000 },
  /** An answer of a search provider. */
  search: { bytes: 5_000_000, values: 20_000 },
  /** An answer of the audio endpoint. */
  audio: { bytes: MB, values: 20_000 },
  /**
   * An event that a platform posts or sends: a long text may have thousands of marked stretches, and answer one that
   * has as many.
   */
  platformEvent: { bytes: MB, values: 100_000 },
  /** An answer of a platform's API: a page of a history, or of updates. A smaller one is asked for where it is larger. */
  platformAnswer: { bytes: 20 * MB, values: 200_000 },
  /** A frame of a platform's gateway that names a whole server, with what each of 500 channels allows to whom. */
  platformFrame: { bytes: 16 * MB, values: 500_000 },
  /** A line of an archive of a session: an event, or a file in it. What tools gave may lie deep. */
  archiveLine: { bytes: 64 * MB, depth: 500, values: 200_000 },
  /** A file of another program's store, which a command reads that nobody waits for: a conversation of years. */
  oldStore: { bytes: 64 * MB, values: 2_000_000 },
  /** A file of settings of another program. */
  peer: { bytes: 4 * MB, values: 100_000 },
} as const satisfies Readonly<Record<string, JsonBounds>>
