import { randomBytes, timingSafeEqual } from 'node:crypto'
import { formatAddress } from '../../core/address.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import type { Logger } from '../../core/logger.ts'
import type { InboundEvent } from '../../core/message.ts'
import { foldCode, isCode } from './link-code.ts'

/** A one-time code that is valid. */
export interface ValidCode {
  /** The code in the form of `foldCode`. */
  readonly folded: string
  /** The commands that take it, in a direct chat; the log calls the code by the first, which a bare code stands for. */
  readonly commands: readonly string[]
  /** Makes the code worthless before it returns; storing that and notifying people follow. */
  burn(): void
}

/** Looks for one-time codes in everything that is said: a code that was shown is worthless from then on. */
export interface ShownCodes {
  /** Returns a dispatch as it is meant: one that says nothing but a code, in a direct chat, is its command. */
  asMeant(dispatch: Dispatch): Dispatch
  /** Called for every decision before anything else is done about it. */
  decided(dispatch: Dispatch): void
  /** Called with a platform's raw payload: all its strings are searched, also those that no event has. */
  overheard(payload: unknown): void
}

export interface ShownCodesDeps {
  readonly logger: Logger
  /** Returns the codes that may be redeemed now; mostly none. */
  validCodes(): readonly ValidCode[]
}

export function createShownCodes({ logger, validCodes }: ShownCodesDeps): ShownCodes {
  function burn(codes: readonly ValidCode[], fields: Readonly<Record<string, string>>): void {
    for (const code of codes) {
      code.burn()
      const line = 'A one-time code was shown and is worth nothing now; `parley status` has the claim code in force'
      logger.warn(line, { code: code.commands[0], ...fields })
    }
  }
  return {
    asMeant(dispatch) {
      for (const one of validCodes()) {
        const code = bareCode(dispatch, one)
        if (code !== undefined) return asCommand(dispatch, one.commands[0] ?? CLAIM, code)
      }
      return dispatch
    },
    decided(dispatch) {
      const codes = validCodes()
      if (codes.length === 0) return
      const { event, traceId } = dispatch
      const given = redeemed(event)
      const shown = findCodes(textsOf(event), codes).filter(
        ({ commands, folded }) => given === undefined || !commands.includes(given.command) || folded !== given.folded,
      )
      burn(shown, { traceId, where: formatAddress(event.address) })
    },
    overheard(payload) {
      const codes = validCodes()
      if (codes.length > 0) burn(findCodes(stringsIn(payload).join('\n'), codes), {})
    },
  }
}

const CLAIM = 'claim'

/**
 * Returns the code of a direct message that is nothing but one, with or without the word claim before it. A wrong claim
 * code counts too, so that it is among the wrong tries; a text that merely has as many letters needs that word or a
 * digit.
 */
function bareCode({ origin, event }: Dispatch, { folded, commands }: ValidCode): string | undefined {
  if (origin !== 'platform' || event.kind !== 'message' || event.address.chatType !== 'direct') return undefined
  const { text, forwarded, via, attachments, enclosed } = event
  if (forwarded !== undefined || via !== undefined || attachments.length > 0 || enclosed !== undefined) return undefined
  if (text.length > LONGEST_BARE) return undefined
  const whole = foldCode(text)
  if (whole === folded || !commands.includes(CLAIM)) return whole === folded ? folded : undefined
  const word = foldCode(CLAIM)
  const named = whole.startsWith(word) && isCode(whole.slice(word.length))
  if (named) return whole.slice(word.length)
  return isCode(whole) && /\d/.test(text) ? whole : undefined
}

/** Characters of a text that may be a bare code, with whatever a phone puts between and around its letters. */
const LONGEST_BARE = 100

function asCommand(dispatch: Dispatch, name: string, code: string): Dispatch {
  const { event } = dispatch
  if (event.kind !== 'message') return dispatch
  return { ...dispatch, event: { ...event, kind: 'command', name, args: code } }
}

/**
 * Returns the command and the code it carries in a direct chat, which nobody else reads; a code in a sentence there is
 * said to the agent.
 */
function redeemed(event: InboundEvent): { readonly command: string; readonly folded: string } | undefined {
  if (event.kind !== 'command' || event.address.chatType !== 'direct') return undefined
  return { command: event.name, folded: foldCode(event.args) }
}

/** Returns everything people can read of an event; in a direct chat without the bot's own words. */
function textsOf(event: InboundEvent): string {
  const { sender, address } = event
  const texts = [sender.displayName, sender.username]
  if (event.kind === 'membership') texts.push(event.chatTitle)
  if ('text' in event) {
    const { text, forwarded, quoted, attachments, enclosed = [] } = event
    texts.push(text, forwarded?.text, forwarded?.name, forwarded?.from?.displayName)
    if (quoted && !(quoted.own && address.chatType === 'direct')) texts.push(quoted.text, quoted.sender?.displayName)
    for (const { fileName, about } of attachments) texts.push(fileName, about)
    texts.push(...enclosed)
  }
  return texts.filter((text) => text !== undefined).join('\n')
}

/** Returns every string in a payload, however deep it is nested; a list in place of recursion cannot overflow. */
function stringsIn(payload: unknown): readonly string[] {
  const strings: string[] = []
  const left: unknown[] = [payload]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === 'string') strings.push(value)
    else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) left.push(inner)
  }
  return strings
}

/** The base is odd and random for each process, so that nobody can craft texts that take longer than others. */
const BASE = randomBytes(4).readUInt32LE() | 1

/**
 * Returns those of the codes that occur in a text, whatever stands between their letters. It passes over the text once
 * for each length a code has, however many codes there are: it compares fingerprints of that many letters, and a code
 * itself only where its fingerprint fits, in constant time.
 */
export function findCodes<Code extends Pick<ValidCode, 'folded'>>(
  text: string,
  codes: readonly Code[],
): readonly Code[] {
  const letters = Buffer.from(foldCode(text), 'latin1')
  const found = new Set<Code>()
  for (const length of new Set(codes.map(({ folded }) => folded.length))) {
    const wanted = codes
      .filter(({ folded }) => folded.length === length)
      .map((code) => ({ code, letters: Buffer.from(code.folded, 'latin1') }))
    const marks = new Set(wanted.flatMap((one) => [...fingerprints(one.letters, length)]))
    let end = length
    for (const mark of fingerprints(letters, length)) {
      if (marks.has(mark)) {
        const here = letters.subarray(end - length, end)
        for (const one of wanted) if (timingSafeEqual(here, one.letters)) found.add(one.code)
      }
      end++
    }
  }
  return [...found]
}

/** Yields the fingerprint of each stretch of this many letters, from the first to the last. */
function* fingerprints(letters: Uint8Array, length: number): Generator<number> {
  let mark = 0
  let outgoing = 1
  for (let at = 1; at < length; at++) outgoing = Math.imul(outgoing, BASE)
  for (const [at, letter] of letters.entries()) {
    if (at >= length) mark = (mark - Math.imul(letters[at - length] ?? 0, outgoing)) | 0
    mark = (Math.imul(mark, BASE) + letter) | 0
    if (at >= length - 1) yield mark
  }
}
