import type { WantedFile } from '../../../src/channels/capabilities.ts'
import type { Clock } from '../../../src/core/clock.ts'
import type { FetchedFile } from '../../../src/core/media.ts'
import { download, tooLarge } from '../../shared/download.ts'
import { isFields } from '../../shared/fields.ts'
import type { TelegramClient } from '../connection/client.ts'

interface Ports {
  readonly client: TelegramClient
  readonly clock: Clock
  readonly token: string
  readonly apiRoot: string | undefined
}

/** The platform gives bots no larger files; an own Bot API server does. */
export const MOST_FILE_BYTES = 20 * 1024 * 1024

const DEADLINE_MS = 15_000
const PUBLIC_ROOT = 'https://api.telegram.org'
/** The form of its place: folders and a name, and nothing that leads out of them. */
const FILE_PATH = /^(?:[\w-]+\/)*[\w-][\w.-]*$/

/** Fetches a file by its `file_id`: its place is asked for, and holds for an hour. */
export async function fetchFile(ports: Ports, { ref, most }: WantedFile, signal: AbortSignal): Promise<FetchedFile> {
  const { client, clock, token, apiRoot = PUBLIC_ROOT } = ports
  const outcome = await client.call('getFile', { file_id: ref }, { signal, deadlineMs: DEADLINE_MS })
  if (outcome.kind === 'failed') return { kind: 'failed', reason: outcome.reason }
  if (outcome.kind === 'refused') return refused(outcome, most)
  const { file_path: path, file_size: size } = isFields(outcome.result) ? outcome.result : {}
  if (typeof size === 'number' && size > most) return tooLarge(most)
  if (typeof path !== 'string') return { kind: 'refused', reason: 'the platform does not say where it is' }
  // An own Bot API server in its local mode names a file of its disk, which is none of ours to read.
  if (!FILE_PATH.test(path)) return { kind: 'refused', reason: 'it is on the disk of the Bot API server alone' }
  const root = new URL(apiRoot)
  const url = `${apiRoot.replace(/\/+$/, '')}/file/bot${token}/${path}`
  return download({ url, isOurs: ({ origin }) => origin === root.origin, most, clock, signal })
}

function refused({ code, description }: { readonly code: number; readonly description: string }, most: number) {
  if (/too big/i.test(description)) return tooLarge(Math.min(most, MOST_FILE_BYTES))
  if (code === 429) return { kind: 'failed', reason: description } as const
  return { kind: 'refused', reason: 'the platform does not have it any more' } as const
}
