import * as z from 'zod'
import { ParleyError } from '../../core/errors.ts'
import type { AsksPeople, QuestionOutcome } from '../../core/question.ts'
import type { Tool } from '../../core/turn.ts'
import { flag, readArgs, text, texts } from './read-args.ts'

const ARGS = z.object({ question: text, choices: texts, everybody: flag })
const LONGEST_QUESTION = 1_500
const LONGEST_CHOICE = 100
const [FEWEST, MOST] = [2, 8]

/**
 * Asks somebody in the conversation with a button for each answer. Keyed by its call: after a crash the same question
 * waits on. Whoever answers is an author of the session from then on.
 */
export function askTool(people: AsksPeople): Tool {
  return {
    class: 'keyed',
    reach: 'inside',
    doing: 'waiting for an answer',
    spec: {
      name: 'ask',
      description: `Asks whoever you answer a question with ${FEWEST} to ${MOST} choices, shown as buttons, and waits up to two minutes. They may also answer in their own words. Only for what you cannot go on without.`,
      parameters: {
        type: 'object',
        properties: {
          question: { type: 'string', description: 'What you want to know, in Markdown.' },
          choices: {
            type: 'array',
            items: { type: 'string' },
            minItems: FEWEST,
            maxItems: MOST,
            description: 'The answers to choose from, each a few words.',
          },
          everybody: {
            type: 'boolean',
            description: 'Anybody who may talk here may answer, the first counts. Default: whoever you answer, alone.',
          },
        },
        required: ['question', 'choices'],
        additionalProperties: false,
      },
    },
    async run(args, { turnId, sessionId, agentId, callId, signal }) {
      const { question, choices, everybody } = readArgs(ARGS, args)
      const offered = choices.map((choice) => choice.replace(/\s+/gu, ' ').trim())
      check(question, offered)
      const asked = { text: question.trim(), choices: offered, free: { kind: 'text' }, part: 0 } as const
      const draft = everybody ? { ...asked, everybody } : asked
      return inWords(await people.ask(draft, { id: turnId, sessionId, agentId, callId }, signal))
    },
  }
}

function check(question: string, choices: readonly string[]): void {
  const invalid = (fault: string): ParleyError => new ParleyError('invalid', fault)
  if (question.length > LONGEST_QUESTION) throw invalid(`question must have ${LONGEST_QUESTION} characters at most.`)
  if (choices.length < FEWEST || choices.length > MOST)
    throw invalid(`choices must be ${FEWEST} to ${MOST} texts; ask for anything else in your answer.`)
  if (choices.some((choice) => choice === '' || choice.length > LONGEST_CHOICE))
    throw invalid(`Each of choices must have 1 to ${LONGEST_CHOICE} characters.`)
  if (new Set(choices.map((choice) => choice.toLowerCase())).size < choices.length)
    throw invalid('choices must differ from each other.')
}

function inWords(outcome: QuestionOutcome): string {
  if (outcome.kind === 'answered') {
    const how = outcome.choice === undefined ? 'answered in their own words' : 'chose'
    return `${outcome.name.replace(/\s+/gu, ' ')} ${how}: ${outcome.text}`
  }
  if (outcome.because === 'ended') return 'Not answered: the question is not wanted any more.'
  const why =
    outcome.because === 'spoken' ? 'somebody has written meanwhile, which you are shown next' : 'nobody so far'
  return `Not yet answered: ${why}. Continue without it, and say that you wait for the answer. Should it come within ten minutes, it is shown to you here.`
}
