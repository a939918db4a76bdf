import { cutText } from './cut-text.ts'
import type { PostedData, UserMessageData } from './event.ts'
import { type Forwarded, hasForeignText, type Sender } from './message.ts'

/**
 * Labels are what Parley itself adds to other people's texts: `[Ada]`, `[in reply to …]`, `[forwarded from …]`. They
 * stand at the beginning of a line and nothing a person can write does: a text is escaped first and labelled
 * afterwards.
 */

/** Every line break that Unicode knows; the first part keeps `\r\n` whole. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the file, group and record separators break lines
const BREAK = /(\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029])/

/** Square brackets, and what is drawn like them; the last is the tag that nobody sees and a model may read as one. */
const OPENING = '\\[［【〔〖〘〚⟦⟬⁅❲⦋⦍⦏⦗﹝﹇︗︹︻⌈⌊⎡⎢⎣⸢⸤｢⹕⹗\u{e005b}'
const CLOSING = '\\]］】〕〗〙〛⟧⟭⁆❳⦌⦎⦐⦘﹞﹈︘︺︼⌉⌋⎤⎥⎦⸣⸥｣⹖⹘\u{e005d}'

/** Characters of other kinds that are drawn as nothing: empty Braille, note head and hieroglyphs, a missing object. */
const BLANK = '\u2800\u{1d159}\u{13441}\u{13442}\ufffc'

/** A line that begins like a label, whatever invisible or empty characters stand before. */
const LIKE_LABEL = new RegExp(`^[\\\\\\s\\p{C}\\p{M}\\p{Default_Ignorable_Code_Point}${BLANK}]*[${OPENING}]`, 'u')

const ANY_OPENING = new RegExp(`[${OPENING}]`, 'u')

/**
 * Returns the text with a backslash before each line that begins like a label; every other line stays as it is, and so
 * do the line breaks. One backslash taken from each such line gives the text again.
 */
export function escapeLabels(text: string): string {
  if (!ANY_OPENING.test(text)) return text
  return text
    .split(BREAK)
    .map((part, index) => (index % 2 === 0 && LIKE_LABEL.test(part) ? `\\${part}` : part))
    .join('')
}

/**
 * Returns somebody else's text with a label at the beginning of each line, so that no line of it passes for another's.
 */
export function labelLines(first: string, further: string, text: string): string {
  return text
    .split(BREAK)
    .map((part, index) => (index % 2 === 1 ? part : `${index === 0 ? first : further} ${escapeLabels(part)}`))
    .join('')
}

/** Returns each line of a text behind `> `. */
export function quoteLines(text: string): string {
  return text
    .split(BREAK)
    .filter((_, index) => index % 2 === 0)
    .map((line) => `> ${line}`)
    .join('\n')
}

/** Returns the speaker of a posted text among the words of others: its script, else `fallback`. */
export function postedBy({ script }: Pick<PostedData, 'script'>, fallback: string): string {
  return script === undefined ? fallback : `script ${quotable(script)}`.trim()
}

type Words = Pick<UserMessageData, 'text' | 'forwarded' | 'via'>

/**
 * Returns the words of a message, escaped: the sender's own, and behind them, with a label on each line, those of
 * somebody else that the sender passed on.
 */
export function labelledWords(message: Words): string {
  const { text, forwarded } = message
  const theirs = foreignLabels(message)
  if (hasForeignText(message)) return labelLines(theirs.first, theirs.further, text)
  const own = escapeLabels(text)
  return forwarded?.text === undefined ? own : `${own}\n${labelLines(theirs.first, theirs.further, forwarded.text)}`
}

function foreignLabels({ forwarded, via }: Words): { readonly first: string; readonly further: string } {
  const by = via === undefined ? [] : [`[via @${plainName(via.username ?? calledBy(via))}]`]
  if (forwarded === undefined) return { first: by.join(''), further: by.join('') }
  const writer = writerOf(forwarded)
  const from = `[forwarded${writer === '' ? '' : ` from ${writer}`}]`
  return { first: [from, ...by].join(' '), further: '[forwarded]' }
}

function writerOf({ from, name = '' }: Forwarded): string {
  return from === undefined ? plainName(name) : speaker(from)
}

/** UTF-16 units at most: of a name, and of a title. */
type NameLength = 64 | 80

const LONGEST_NAME = 64

/** Characters that nobody sees: joiners, marks of direction, soft hyphens, fillers. */
const INVISIBLE = new RegExp(`[\\p{Cf}\\p{Default_Ignorable_Code_Point}${BLANK}]`, 'gu')
/** Colons, and what is drawn as two dots or more above each other. */
const COLON =
  ':\uff1a\ufe13\ufe19\ufe30\ufe55\u02d0\u02f8\u0589\u05c3\u0703\u0704\u1361\u1362\u16ec\u1803\u1804\u1809\u2058\u205a\u205b' +
  '\u205d\u205e\u2236\u2237\u22ee\u2803\u2806\u2818\u2830\u2844\u28a0\u2982\u2a74\u2e2c\ua4fd\ua6f4\ua789\u{10781}\u{12471}\u{12472}'
/** Signs of a script that look like a colon where none of their script stands before, each behind its script. */
const SIGNS =
  'Deva \u0903 Beng \u0983 Gujr \u0a83 Orya \u0b03 Telu \u0c03 Knda \u0c83 Mlym \u0d03 Sinh \u0d83 Tibt \u0f7f Mymr \u1038 Khmr \u17c7 Tfng \u2d57'
const STRAY_SIGN = SIGNS.replace(/(\w+) (.) ?/gu, '|(?<!\\p{sc=$1})$2+')
/** Characters that would end a name where one is shown: brackets, breaks, quotes of code, the colon behind it. */
const NOT_OF_A_NAME = new RegExp(`(?:[${OPENING}${CLOSING}${COLON}\\p{C}\\p{Z}\\s\`]${STRAY_SIGN})+`, 'gu')

/**
 * Returns a name, title or other short text of somebody else's as it may stand in a label: one line, visible, bounded,
 * without brackets, and never one of our labels itself. Empty if nothing is left of it.
 */
export function plainName(text: string, longest: NameLength = LONGEST_NAME): string {
  const names = plainNames[longest]
  const known = names.get(text)
  if (known !== undefined) return known
  const name = toPlainName(text, longest)
  if (text.length > LONGEST_KEPT) return name
  if (names.size >= MOST_PLAIN_NAMES) names.clear()
  names.set(text, name)
  return name
}

/** The same few names come with each message: 7 of 460 µs of an echo. */
const plainNames: Readonly<Record<NameLength, Map<string, string>>> = { 64: new Map(), 80: new Map() }
const MOST_PLAIN_NAMES = 1_000
/** Characters of a name that is kept. */
const LONGEST_KEPT = 256

/** Gives the same for its own result: adapters keep names, and read them again with each message. */
function toPlainName(text: string, longest: number): string {
  const marked = text.startsWith(NAME_MARK)
  const given = marked ? text.slice(NAME_MARK.length) : text
  const name = shorten(given.replace(INVISIBLE, '').replace(NOT_OF_A_NAME, ' ').trim(), longest)
  return name !== '' && (marked || OURS.test(lookOf(name))) ? markName(name) : name
}

/** Returns a name that may stand between quotation marks: none in it ends them. */
export function quotable(name: string): string {
  return plainName(name).replace(LIKE_QUOTE, "'")
}

/** Returns a path as one bounded line between quotation marks: none in it ends them; brackets and colons stay. */
export function quotedPath(path: string, longest: number): string {
  const line = path
    .replace(INVISIBLE, '')
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .replace(LIKE_QUOTE, "'")
    .trim()
  return `"${line.length > longest ? `${cutText(line, longest - 1)}…` : line}"`
}

/** Marks that are drawn twice; two of those that are drawn once look like one of them. */
const DOUBLE =
  '"\u00ab\u00bb\u02ba\u02dd\u02ee\u02f6\u05f4\u1cd3\u201c-\u201f\u2033\u2034\u2036\u2037\u2057\u275d\u275e\u2e42\u3003\u301d-\u301f\uff02\u{1f676}-\u{1f678}'
const SINGLE = "'\u00b4\u02b9\u02bb-\u02bd\u05f3\u2018-\u201b\u2032\u2035\u275b\u275c\ua78c\uff07"
const LIKE_QUOTE = new RegExp(`[${DOUBLE}${SINGLE}]{2,}|[${DOUBLE}]|(?<!\\p{sc=Hebr})\u05f2+`, 'gu')

/** Stands before a name that reads like a label or a key. */
const NAME_MARK = 'name: '

export function markName(name: string): string {
  return `${NAME_MARK}${name}`
}

/** Returns a name, as `plainName`, for a place behind words of ours, where it begins no label. */
export function nameWithin(text: string): string {
  const name = plainName(text)
  return name.startsWith(NAME_MARK) ? name.slice(NAME_MARK.length) : name
}

/** Returns what a sender is called, as `plainName`; whoever is known to us by an id of ours is called by it. */
export function senderName({ id, displayName = '' }: Sender): string {
  return displayName === id.replace(':', ' ') ? plainExcerpt(displayName, LONGEST_NAME) : plainName(displayName)
}

/** Returns what a sender is called where a label must not be empty: by name, by the name of the account, or by id. */
export function calledBy(sender: Sender): string {
  return senderName(sender) || plainName(sender.username ?? '') || plainExcerpt(sender.id, LONGEST_NAME)
}

/** Returns what a sender is called; no name has a colon, so that nobody passes for an app. */
export function speaker(sender: Sender): string {
  return sender.kind === 'bot' ? `app: ${calledBy(sender)}` : calledBy(sender)
}

/** Returns what the one who wrote a message is called: a session or a hook by its label, others as `calledBy`. */
export function speakerName({ from, sender }: Pick<UserMessageData, 'from' | 'sender'>): string {
  if (from !== undefined) return plainExcerpt(sender.displayName ?? sender.id, LONGEST_SPEAKER)
  return calledBy(sender)
}

/** A session's label has its key in it. */
const LONGEST_SPEAKER = 300

/** Returns somebody else's text as one line without brackets, for a label that quotes it. */
export function plainExcerpt(text: string, longest: number): string {
  const line = text.replace(TASK, asBox).replace(BRACKETS_AND_BREAKS, ' ').trim()
  return shorten(line, longest)
}

/** The box of a task in a list, whose brackets say whether it is done. */
const TASK = /^([ \t]*(?:[-*+\u2022]|\d{1,9}[.)])[ \t]+)\[([ xX])\](?=\s)/gm

function asBox(_task: string, mark: string, state: string): string {
  return `${mark}${state === ' ' ? '☐' : '☑'}`
}

/** Returns somebody's text as one line in which nothing turns the direction, for themselves to read. */
export function typedExcerpt(text: string, longest: number): string {
  return shorten(text.replace(BREAKS, ' ').trim(), longest)
}

/** They turn the direction of what stands behind them, in our own words too. */
const TURNING = '\u202a-\u202e\u2066-\u2069'
const BREAKS = new RegExp(`[${TURNING}\\p{Cc}\\p{Z}\\s]+`, 'gu')
const BRACKETS_AND_BREAKS = new RegExp(`[${OPENING}${CLOSING}${TURNING}\\p{Cc}\\p{Z}\\s]+`, 'gu')

/** The words our own labels begin with, and the names that no person has. */
const LABELS = [
  ...['app', 'attached', 'cut', 'deleted this', 'edited an earlier', 'forwarded', 'hook', 'in reply', 'in the channel'],
  ...[
    'its handle',
    'mentions',
    'message from',
    'name',
    'not directed at',
    'place',
    'schedule',
    'session',
    'summary of',
  ],
  ...['system note', 'the assistant began', 'this result of', 'time', 'via', 'voice note', 'you posted'],
  'your working memory',
]
const NO_PERSON = ['assistant', 'file', 'image', 'notice', 'operator', 'people', 'system', 'user', 'you']
const OURS = new RegExp(`^(?:(?:${LABELS.join('|')})(?: |$)|(?:${NO_PERSON.join('|')})$)`)

/** Letters that are drawn like Latin ones, each before the one it is drawn like. */
const LOOK_ALIKE = new Map(
  'аa еe оo рp сc уy хx іi јj ѕs ԁd һh ԛq ԝw кk мm тt вb οo αa εe ιi νv ρp τt υu χx κk օo ոn ıi ɑa ɡg'
    .split(' ')
    .map(([letter = '', like = '']) => [letter, like] as const),
)

/** Returns how a text looks: small Latin letters where it has them or ones drawn alike, single spaces between words. */
export function lookOf(text: string): string {
  const folded = text.replace(INVISIBLE, '').normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
  const latin = [...folded].map((letter) => LOOK_ALIKE.get(letter) ?? letter).join('')
  return latin.replace(NO_LETTERS, ' ').trim()
}

/** Letters that are drawn like a colon or a full stop count as such. */
const NO_LETTERS = new RegExp(`[^\\p{L}\\p{N}]+|[${COLON}\ua4f8-\ua4fc]+`, 'gu')

/** Ends a text that is cut with an ellipsis. */
function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text
  const kept = cutText(text, longest - 1)
  return `${kept.trimEnd()}…`
}
