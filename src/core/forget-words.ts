import type { ForgetCounts, ForgetReceipt, ForgottenPerson } from './forgetting.ts'

const WORDS: readonly (readonly [keyof ForgetCounts, one: string, many: string])[] = [
  ['events', 'entry of a log', 'entries of logs'],
  ['quotes', 'quotation by somebody else', 'quotations by others'],
  ['received', 'received message with its trace', 'received messages with their traces'],
  ['sent', 'text of mine in the outbox', 'texts of mine in the outbox'],
  ['notSent', 'text that was not sent yet', 'texts that were not sent yet'],
  ['memories', 'memory', 'memories'],
  ['workingMemories', 'working memory', 'working memories'],
  ['summaries', 'summary', 'summaries'],
  ['toolResults', 'result of a tool', 'results of tools'],
  ['indexed', 'text of the search index', 'texts of the search index'],
  ['files', 'file', 'files'],
  ['transcripts', 'transcript', 'transcripts'],
  ['questions', 'question about a call', 'questions about calls'],
  ['reminders', 'reminder', 'reminders'],
]

/** Returns how much was removed from each store; empty: nothing. */
export function countWords(counts: ForgetCounts): readonly string[] {
  return WORDS.flatMap(([name, one, many]) => {
    const count = counts[name] ?? 0
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
  })
}

/** Returns what others still hold, a line each. `whole` names the files. */
export function heldWords({ platforms, backups, exports }: ForgetReceipt, whole: boolean): readonly string[] {
  const files = (names: readonly string[]): string => (whole ? names.join(', ') : `${names.length}`)
  return [
    ...stillHeld(platforms),
    ...(backups.length === 0 ? [] : [`Copies of the database that I do not change: ${files(backups)}.`]),
    ...(exports.length === 0 ? [] : [`Files it was exported to: ${files(exports)}.`]),
    'What the provider of my model keeps is in its hands.',
  ]
}

/** Returns one line for all platforms that hold the same. */
function stillHeld(platforms: ForgetReceipt['platforms']): readonly string[] {
  return [...new Set(Object.values(platforms))].map((what) => {
    const names = Object.keys(platforms).filter((name) => platforms[name] === what)
    const all = names.join(', ').replace(/, ([^,]*)$/, ' and $1')
    return `${all} still ${names.length === 1 ? 'has' : 'have'} ${what}.`
  })
}

const STILL_ANSWERING = 'I am still answering something there: that goes too, once it has ended.'
/** Said where all that is to go is part of a turn that runs. */
const STILL_ANSWERED = 'Nothing is removed yet: I am still answering there. It goes once that has ended.'

/** Returns the account of what was forgotten, for people. */
export function receiptWords(receipt: ForgetReceipt, whole: boolean): readonly string[] {
  const removed = countWords(receipt.counts)
  const waits = receipt.state === 'waits'
  if (removed.length === 0 && !waits) return ['There is nothing of that left that I know.']
  const { deleting } = receipt.counts
  return [
    ...(removed.length === 0 ? [] : [`Forgotten: ${removed.join(', ')}.`]),
    ...(deleting === 0 ? [] : [`Answers to it are being deleted in the chat: ${deleting}.`]),
    ...(waits ? [removed.length === 0 ? STILL_ANSWERED : STILL_ANSWERING] : []),
    ...heldWords(receipt, whole),
  ]
}

const MOST_IDS = 5

/** Returns whose words go: a name may be that of somebody else by now, and all ids of a person go together. */
export function whoseWords({ ids, person }: ForgottenPerson): string {
  const more = ids.length > MOST_IDS ? ` and ${ids.length - MOST_IDS} more` : ''
  const shown = `${ids.slice(0, MOST_IDS).join(', ')}${more}`
  return person === undefined ? `You mean ${shown}.` : `You mean ${person}: ${shown}.`
}
