import type { Approval, NewApproval } from '../core/approval.ts'
import type { Button } from '../core/outbound.ts'
import type { Over } from './still-open.ts'
import { inWords, type OthersWords } from './words-of-others.ts'

/**
 * Characters of arguments that a person is shown. A call with more is refused: nobody can agree to what they cannot
 * see.
 */
export const MOST_SHOWN = 6_000

/** Characters that are invisible or change how the next ones are shown, and the backtick, which ends the block. */
const UNSEEN = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800`]/gu

/**
 * Returns the arguments as a card shows them, in full. Whatever cannot be seen is written as a JSON escape, which is
 * the same text: with a direction mark in it, a path would read like another path.
 */
export function shownArguments(args: unknown): string {
  return JSON.stringify(args, null, 2).replace(UNSEEN, (character) => character.split('').map(escaped).join(''))
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export interface CardFacts {
  /** The place by its name for people, and whoever asked. */
  readonly where: string
  /** Everybody whose words the turn was shown, without the owners. */
  readonly others: readonly string[]
  /** The newest of their words. */
  readonly newest: OthersWords | undefined
}

/** Returns the question to somebody who may allow a call, in Markdown. */
export function approvalCard({ code, tool, args, askedAt }: NewApproval, { where, others, newest }: CardFacts): string {
  const last = newest === undefined ? '' : `, most recently ${inWords(newest, askedAt)}`
  const behind =
    others.length === 0
      ? ''
      : ` What I was shown there includes words of ${others.join(' and ')}${last}: it may be their idea.`
  return `May I use \`${tool}\` in ${where}?${behind}\n\n\`\`\`\n${shownArguments(args)}\n\`\`\`\n\n\`/approve ${code}\` lets me do exactly this, once, \`/approve ${code} here\` whatever I use it for here; \`/deny ${code}\` refuses. After ten minutes it is over.`
}

/** Returns the buttons of a question, which are its two commands. */
export function approvalButtons({ code }: Pick<NewApproval, 'code'>): readonly Button[] {
  return [
    { label: 'Allow once', command: `/approve ${code}` },
    { label: 'Always here', command: `/approve ${code} here` },
    { label: 'Deny', command: `/deny ${code}` },
  ]
}

/** Returns the line that takes the place of the buttons once nobody can answer any more. */
export function closingLine(
  { state, decidedBy = 'my owner' }: Approval,
  { over, standing }: { readonly over: Over; readonly standing: boolean },
): string {
  if (over === 'too_old') return 'Nobody answered within ten minutes, so I do not do it.'
  if (over === 'ended') return 'It is not wanted any more.'
  if (state === 'denied') return `Refused by ${decidedBy}.`
  return standing ? `Allowed from now on by ${decidedBy}.` : `Allowed once by ${decidedBy}.`
}

/** Returns the line in a conversation whose question stands elsewhere. */
export function askedElsewhere({ tool }: Pick<Approval, 'tool'>): string {
  return `I have asked my owner whether I may use \`${tool}\`.`
}

/** Returns the words of the message that begins the turn in which a late approval takes effect. */
export function lateApproval({ tool, decidedBy }: Pick<Approval, 'tool' | 'decidedBy'>): string {
  return `${decidedBy ?? 'My owner'} has now allowed the call of ${tool} that waited. It is made at once; tell here what came of it.`
}
