import { STATUS_CODES } from 'node:http'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { charsetIn, isBinary, readText } from '../core/read-text.ts'
import type { WebAccess, WebPage } from '../core/web.ts'
import { convertPage, type PageText } from './convert-page.ts'
import type { Door, DoorAnswer } from './door.ts'
import { oneAtATime } from './in-turn.ts'
import { readPublicUrl } from './public-address.ts'

type Answer = Extract<DoorAnswer, { kind: 'answer' }>

/** The images that models can be shown. */
const IMAGES = /^image\/(png|jpeg|gif|webp)$/
const PAGES = /^(text\/html|application\/xhtml\+xml)$/
const TEXTS =
  /^(text\/.*|application\/(json|xml|javascript|ecmascript|yaml|x-yaml|toml|x-ndjson|rtf|x-sh|sql)|.*\+(json|xml|yaml))$/
/** The types that a server names which does not know the type. */
const UNKNOWN = /^(application\/octet-stream|binary\/octet-stream|)$/

/** Returns the web behind the door: pages as Markdown, other texts as they are. */
export function createWebAccess({ door, clock }: { readonly door: Door; readonly clock: Clock }): WebAccess {
  // Each conversion may cost all the memory that one is allowed, and a model may ask for many pages in one step.
  const inTurn = oneAtATime()
  return {
    read: readPublicUrl,
    async fetch(address, signal, whose) {
      const answer = await door.ask(address, { signal })
      if (answer.kind === 'redirect') return { kind: 'redirect', url: answer.url.href, to: answer.to.href }
      if (answer.status < 200 || answer.status > 299) throw refused(answer)
      return readPage(answer, (html, base) => inTurn(whose, () => convertPage(html, base, { clock, signal })))
    },
  }
}

async function readPage(
  { url: { href: url }, headers, bytes, cut }: Answer,
  convert: (html: string, base: string) => Promise<PageText>,
): Promise<WebPage> {
  const header = headers['content-type'] ?? ''
  const named = header.split(';')[0]?.trim().toLowerCase() ?? ''
  const short = cut ? ({ cut } as const) : {}
  const type = UNKNOWN.test(named) ? guessed(bytes) : named
  if (IMAGES.test(type) && !cut) return { kind: 'image', url, bytes }
  const isPage = PAGES.test(type)
  if ((!isPage && !TEXTS.test(type)) || isBinary(bytes))
    return { kind: 'file', url, type: type || 'application/octet-stream', size: bytes.length, ...short }
  const { text } = readText(bytes, [charsetIn(header), charsetIn(bytes)])
  if (!isPage) return { kind: 'text', url, type, text, ...short }
  const { markdown, ...page } = await convert(text, url)
  return { kind: 'text', url, type, ...page, text: markdown, ...short }
}

function guessed(bytes: Buffer): string {
  if (isBinary(bytes)) return ''
  return /^\s*(<!doctype html|<html|<head|<body)/i.test(bytes.subarray(0, 1_000).toString('latin1'))
    ? 'text/html'
    : 'text/plain'
}

function refused({ url, status }: Answer): ParleyError {
  const words = STATUS_CODES[status]
  return new ParleyError('unavailable', `${url.host} answered ${status}${words ? ` (${words})` : ''} for this address.`)
}
