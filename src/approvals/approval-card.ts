import type { Approval, NewApproval } from '../core/approval.ts'

/**
 * Characters of arguments that a person is shown. A call with more is refused: nobody can agree to what they cannot
 * see.
 */
export const MOST_SHOWN = 6_000

/** Returns the arguments as a card shows them, in full. */
export function shownArguments(args: unknown): string {
  return JSON.stringify(args, null, 2)
}

export interface CardFacts {
  /** The place by its name for people, and whoever asked. */
  readonly where: string
  /** Those whose words the turn was shown and who are no owners. */
  readonly others: readonly string[]
}

/**
 * Returns the question to somebody who may allow a call, in Markdown. A backtick in it could end the block it stands
 * in.
 */
export function approvalCard({ code, tool, args }: NewApproval, { where, others }: CardFacts): string {
  const behind =
    others.length === 0 ? '' : ` What I was shown there includes words of ${others.join(', ')}: it may be their idea.`
  const call = shownArguments(args).replaceAll('`', '\\u0060')
  return `May I use \`${tool}\` in ${where}?${behind}\n\n\`\`\`\n${call}\n\`\`\`\n\n\`/approve ${code}\` lets me do exactly this, once; \`/deny ${code}\` refuses. After ten minutes it is over.`
}

/** Returns the line in a conversation whose question stands elsewhere. */
export function askedElsewhere({ tool }: Pick<Approval, 'tool'>): string {
  return `I have asked my owner whether I may use \`${tool}\`.`
}

/** Returns the words of the message that begins the turn in which a late approval takes effect. */
export function lateApproval({ tool, decidedBy }: Pick<Approval, 'tool' | 'decidedBy'>): string {
  return `${decidedBy ?? 'My owner'} has now allowed the call of ${tool} that waited. It is made at once; tell here what came of it.`
}
