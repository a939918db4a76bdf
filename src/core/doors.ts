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
  /** A call of a hook from outside. */
  hook: { bytes: 256 * 1024, values: 20_000 },
  /** The answer of a hook's program. */
  hookAnswer: { bytes: 256 * 1024, values: 20_000 },
  /** A message of a tool server: an answer, a list, a notification. */
  toolServer: { bytes: 20_000_000, values: 50_000 },
  /** An answer of the server at which a tool server has people log in. */
  toolLogin: { bytes: 256_000, values: 5_000 },
  /** An event of a stream of a model server. */
  modelEvent: { bytes: 4 * MB, values: 20_000 },
  /** A whole answer of a model server. */
  modelAnswer: { bytes: 16 * MB, values: 50_000 },
  /** An answer of a search provider. */
  search: { bytes: 5_000_000, values: 20_000 },
  /** An answer of the audio endpoint. */
  audio: { bytes: MB, values: 20_000 },
  /** An update that Telegram posts. */
  telegramUpdate: { bytes: MB, values: 20_000 },
  /** An answer of Telegram's API: up to 100 updates. */
  telegramAnswer: { bytes: 20 * MB, values: 200_000 },
  /** An event that Slack posts, or sends through its socket. */
  slackEvent: { bytes: MB, values: 20_000 },
  /** An answer of Slack's API: a page of a history. */
  slackAnswer: { bytes: 20 * MB, values: 200_000 },
  /** A frame of Discord's gateway: the largest names a whole server. */
  discordFrame: { bytes: 50 * MB, values: 2_000_000 },
  /** An answer of Discord's API. */
  discordAnswer: { bytes: 20 * MB, values: 200_000 },
  /** A line of an archive of a session. */
  archiveLine: { bytes: 64 * MB, values: 200_000 },
  /** A file of another program's store. */
  oldStore: { bytes: 64 * MB, values: 500_000 },
} as const satisfies Readonly<Record<string, JsonBounds>>
