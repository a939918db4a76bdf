import type { Clock } from '../../src/core/clock.ts'
import { sizeInWords } from '../../src/core/content-words.ts'
import type { FetchedFile } from '../../src/core/media.ts'
import { parseUrl } from '../../src/core/parse-url.ts'
import { readFirstBytes } from '../../src/core/read-bytes.ts'
import { whyUnanswered } from '../../src/core/wire-error.ts'
import { underDeadline } from './deadline.ts'

/** A file at one of the platform's own addresses. */
export interface Download {
  readonly url: string
  /** A secret of the account among them goes to the origin of `url`, and to no other. */
  readonly headers?: Readonly<Record<string, string>>
  /** Returns true for an address of the platform; a file is followed to no other. */
  isOurs(url: URL): boolean
  /** The reason for a file that leads elsewhere, in words. */
  readonly elsewhere?: string
  readonly most: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** The whole file, from the first byte out to the last byte in. */
const DEADLINE_MS = 30_000
const MOST_REDIRECTS = 3

/**
 * Downloads a file with bounds of time and size, whatever the platform says of it. Never rejects; no reason it returns
 * has an address in it, which may carry a token.
 */
export function download(wanted: Download): Promise<FetchedFile> {
  const { clock, signal } = wanted
  const abort = new AbortController()
  return underDeadline<FetchedFile>(
    clock,
    { deadlineMs: DEADLINE_MS, signal },
    {
      begin: () =>
        follow(wanted, abort.signal).catch(
          (error: unknown) => ({ kind: 'failed', reason: whyUnanswered(error) }) as const,
        ),
      cut: () => abort.abort(),
      givenUp: (why) => ({ kind: 'failed', reason: why }),
      spoiled: ({ kind }) => kind !== 'fetched',
    },
  )
}

async function follow(wanted: Download, signal: AbortSignal): Promise<FetchedFile> {
  const first = new URL(wanted.url)
  let url = first
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    if (!wanted.isOurs(url)) return { kind: 'refused', reason: wanted.elsewhere ?? 'it lies outside of the platform' }
    const headers = url.origin === first.origin ? wanted.headers : undefined
    const response = await fetch(url, { redirect: 'manual', signal, ...(headers && { headers }) })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return take(response, wanted.most)
    await response.body?.cancel()
    const next = parseUrl(location, url.href)
    if (next === undefined) break
    url = next
  }
  return { kind: 'refused', reason: 'the platform sends from one address to the next' }
}

/** Answers after which nothing of it will ever come. */
const GONE: Readonly<Record<number, string>> = {
  401: 'the bot may not read it',
  403: 'the bot may not read it any more',
  404: 'the platform does not have it any more',
  410: 'the platform does not have it any more',
}

async function take(response: Response, most: number): Promise<FetchedFile> {
  const { status, body } = response
  const reason = GONE[status]
  if (reason !== undefined) return { kind: 'refused', reason }
  if (status !== 200 || body === null) return { kind: 'failed', reason: `it was answered ${status}` }
  if (Number(response.headers.get('content-length') ?? 0) > most) return tooLarge(most)
  const { bytes, cut } = await readFirstBytes(body, most)
  return cut ? tooLarge(most) : { kind: 'fetched', bytes }
}

/** Says that a file has more bytes than are read. */
export function tooLarge(most: number): FetchedFile {
  return { kind: 'refused', reason: `larger than ${sizeInWords(most)}` }
}
