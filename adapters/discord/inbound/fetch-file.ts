import type { WantedFile } from '../../../src/channels/capabilities.ts'
import type { Clock } from '../../../src/core/clock.ts'
import type { FetchedFile } from '../../../src/core/media.ts'
import { parseUrl } from '../../../src/core/parse-url.ts'
import { download } from '../../shared/download.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import { type DiscordClient, reasonOf } from '../connection/client.ts'
import { uploadsIn } from './read-parts.ts'

interface Ports {
  readonly client: DiscordClient
  readonly clock: Clock
  readonly apiRoot: string | undefined
}

/** More than any boost gives people: the bound is ours. */
export const MOST_FILE_BYTES = 500 * 1024 * 1024

const DEADLINE_MS = 15_000
const CDN: ReadonlySet<string> = new Set(['cdn.discordapp.com', 'media.discordapp.net'])
const REFERENCE = /^(\d+)\/(\d+)\/(\d+)$/
const GONE = { kind: 'refused', reason: 'the message with it was deleted' } as const

/**
 * Fetches a file by the ids of channel, message and attachment. The links of a message expire within a day, so it is
 * read anew for one that holds; the link leads to the platform's own servers, or nowhere.
 */
export async function fetchFile(ports: Ports, { ref, most }: WantedFile, signal: AbortSignal): Promise<FetchedFile> {
  const { client, clock, apiRoot } = ports
  const [, channel, message, id] = REFERENCE.exec(ref) ?? []
  if (id === undefined) return GONE
  const path = `/channels/${channel}/messages/${message}` as const
  const outcome = await client.call({ verb: 'GET', path }, { signal, deadlineMs: DEADLINE_MS })
  if (outcome.kind === 'failed') return { kind: 'failed', reason: outcome.reason }
  if (outcome.kind === 'refused') {
    if (outcome.status === 404) return GONE
    const kind = outcome.status === 429 ? 'failed' : 'refused'
    return { kind, reason: kind === 'failed' ? reasonOf(outcome) : 'the bot may not read the message with it' }
  }
  const url = urlIn(outcome.result, id)
  if (url === undefined) return GONE
  return download({ url, isOurs: (to) => isOurs(to, apiRoot), most, clock, signal })
}

/** Another server that speaks the API gives its files itself. */
function isOurs({ protocol, hostname, origin }: URL, apiRoot: string | undefined): boolean {
  if (apiRoot !== undefined) return origin === new URL(apiRoot).origin
  return protocol === 'https:' && CDN.has(hostname)
}

/** The link of a file, of the message itself or of one that it forwards. */
function urlIn(message: unknown, id: string): string | undefined {
  const holders = [message, ...listIn(message, 'message_snapshots').map(({ message: inner }) => inner)].filter(isFields)
  const files = holders.flatMap((holder) => [...listIn(holder, 'attachments'), ...uploadsIn(holder)])
  const url = files.find((file) => file.id === id)?.url
  return typeof url === 'string' && parseUrl(url) ? url : undefined
}

function listIn(value: unknown, field: string): readonly Fields[] {
  const list = isFields(value) ? value[field] : undefined
  return Array.isArray(list) ? list.filter(isFields) : []
}
