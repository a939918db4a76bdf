import { cutText } from '../core/cut-text.ts'
import { literal as asIs } from '../core/literal.ts'
import type { Button } from '../core/outbound.ts'
import type { NewQuestion, Question } from '../core/question.ts'
import type { QuestionOver } from './still-open.ts'

/** Characters of a choice on its button; the platforms cut or refuse longer ones. */
export const LONGEST_LABEL = 60
/** Characters that are shown of an answer or a question, and of a name. */
const SHOWN = 200
const LONGEST_NAME = 64

/** The one person that a question is for, if it is one, and the mark before commands in that chat. */
interface ReadBy {
  readonly name: string | undefined
  readonly mark: string
}

/** Returns a question as people are shown it, in Markdown, with the commands that its buttons give. */
export function questionCard(question: NewQuestion, { name, mark }: ReadBy): string {
  const { code, text, choices, free, server } = question
  const asked = server === undefined ? text : `The tool server \`${plain(server)}\` asks:\n\n${quoted(text)}`
  const listed = choices.map((choice, at) => `${at + 1}. ${server === undefined ? choice : `\`${plain(choice)}\``}`)
  const to = name === undefined ? '' : `For ${literal(name, LONGEST_NAME)}. `
  return [asked, listed.join('\n'), `${to}${howTo(`${mark}answer ${code}`, choices, free !== undefined)}`]
    .filter(Boolean)
    .join('\n\n')
}

function howTo(command: string, choices: readonly string[], free: boolean): string {
  const what = choices.length === 0 ? 'your answer' : free ? 'the number or your own words' : 'the number'
  const buttons = choices.length === 0 ? '' : 'Press a button, or write '
  return `${buttons || 'Write '}\`${command}\` with ${what} behind it.`
}

/** A server's words stand in a block of their own, which nothing in them can end. */
function quoted(text: string): string {
  return `\`\`\`\n${text.replaceAll('`', "'")}\n\`\`\``
}

/** Returns a text on one line that can stand in a code span. */
function plain(text: string): string {
  return text.replace(/[`\s]+/gu, ' ').trim()
}

/** Returns somebody's words on one line, as they are: what looks like a link or a mark in them is none. */
function literal(text: string, longest: number): string {
  return asIs(excerpt(plain(text), longest))
}

/** Returns the buttons of a question, which are its commands by the numbers of the choices. */
export function questionButtons({ code, choices }: Pick<NewQuestion, 'code' | 'choices'>): readonly Button[] {
  return choices.map((choice, at) => ({ label: shortened(choice), command: `/answer ${code} ${at + 1}` }))
}

function shortened(label: string): string {
  const characters = [...label]
  return characters.length <= LONGEST_LABEL ? label : `${characters.slice(0, LONGEST_LABEL - 1).join('')}…`
}

/** Returns the line that takes the place of the buttons once nobody can answer any more. */
export function closingLine({ answer = '', by }: Question, over: QuestionOver): string {
  if (over === 'too_old') return 'Nobody answered in time.'
  if (over === 'ended') return 'It is not wanted any more.'
  return `Answered by ${by === undefined ? 'somebody' : literal(nameOf(by), LONGEST_NAME)}: ${literal(answer, SHOWN)}`
}

/** Returns the name of somebody who has answered, for people. */
export function nameOf({ sender, identity }: NonNullable<Question['by']>): string {
  return sender.displayName ?? identity.person ?? sender.id
}

/** Returns an answer that came late as its giver's message, with the question that it answers. */
export function lateAnswer({ text, answer = '' }: Question): string {
  const line = text.replace(/\s+/gu, ' ').trim()
  return `To your question "${excerpt(line, SHOWN)}" I answer: ${answer}`
}

function excerpt(line: string, longest: number): string {
  return line.length <= longest ? line : `${cutText(line, longest)}…`
}
