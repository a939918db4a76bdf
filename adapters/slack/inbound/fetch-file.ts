import type { WantedFile } from '../../../src/channels/capabilities.ts'
import type { Clock } from '../../../src/core/clock.ts'
import type { FetchedFile } from '../../../src/core/media.ts'
import { parseUrl } from '../../../src/core/parse-url.ts'
import { download, tooLarge } from '../../shared/download.ts'
import { isFields } from '../../shared/fields.ts'
import type { CallOutcome, SlackClient } from '../connection/client.ts'
import { waitOf } from '../outbound/receipts.ts'

interface Ports {
  readonly client: SlackClient
  readonly clock: Clock
  readonly token: string
  readonly apiRoot: string | undefined
}

export const MOST_FILE_BYTES = 1024 * 1024 * 1024

const DEADLINE_MS = 15_000
const GONE = { kind: 'refused', reason: 'the platform does not have it any more' } as const
/** The ways in which a file is no file of the platform's. */
const NOT_HELD: Readonly<Record<string, string>> = {
  external: 'it lies outside of the platform',
  hidden_by_limit: 'the plan of the workspace hides it',
  tombstone: 'it was deleted',
}

/** Fetches a file by its id. The token that opens it goes to the platform's own file server and to no other host. */
export async function fetchFile(ports: Ports, { ref, most }: WantedFile, signal: AbortSignal): Promise<FetchedFile> {
  const { client, clock, token, apiRoot } = ports
  const outcome = await client.call('files.info', { file: ref }, { signal, deadlineMs: DEADLINE_MS })
  if (outcome.kind !== 'answered') return notGiven(outcome)
  const file = isFields(outcome.result.file) ? outcome.result.file : {}
  const { mode, size, url_private_download: direct, url_private: url = direct } = file
  if (typeof mode === 'string' && NOT_HELD[mode] !== undefined) return { kind: 'refused', reason: NOT_HELD[mode] }
  if (typeof size === 'number' && size > most) return tooLarge(most)
  if (typeof url !== 'string' || !parseUrl(url)) return GONE
  const headers = { authorization: `Bearer ${token}` }
  // Without the right to read files the platform leads to its login page.
  const elsewhere = MAY_NOT.reason
  return download({ url, headers, isOurs: (to) => isOurs(to, apiRoot), elsewhere, most, clock, signal })
}

const MAY_NOT = { kind: 'refused', reason: 'the bot may not read it; the app needs the scope files:read' } as const
/** The refusals of the platform that are for good, in words; the others name their own word. */
const REFUSALS: Readonly<Record<string, string>> = {
  access_denied: 'the bot may not read it',
  ekm_access_denied: 'the administrators of the workspace have suspended access to it',
  enterprise_is_restricted: 'the bot may not read it',
  file_deleted: 'it was deleted',
  file_under_review: 'the administrators of the workspace review it',
  no_permission: 'the bot may not read it',
  not_visible: 'the bot may not read it',
}
const NOT_FOUND: ReadonlySet<string> = new Set(['file_not_found', 'files_not_found', 'invalid_file_id', 'no_file'])

function notGiven(outcome: Exclude<CallOutcome, { kind: 'answered' }>): FetchedFile {
  if (outcome.kind === 'failed') return { kind: 'failed', reason: outcome.reason }
  const { error } = outcome
  if (error === 'missing_scope') return MAY_NOT
  // A refusal that ends by itself is asked again, as with every other call.
  if (waitOf(outcome) !== undefined) return { kind: 'failed', reason: `the platform could not give it: ${error}` }
  if (NOT_FOUND.has(error)) return GONE
  return {
    kind: 'refused',
    reason: (Object.hasOwn(REFUSALS, error) && REFUSALS[error]) || `the platform refused it: ${error}`,
  }
}

/** Another server that speaks the API gives its files itself. */
function isOurs({ protocol, hostname, origin }: URL, apiRoot: string | undefined): boolean {
  if (apiRoot !== undefined) return origin === new URL(apiRoot).origin
  return protocol === 'https:' && hostname === 'files.slack.com'
}
