import * as z from 'zod'
import { ParleyError } from '../../core/errors.ts'
import type { PutsReactions } from '../../core/reaction.ts'
import type { Tool } from '../../core/turn.ts'
import { readArgs, text } from './read-args.ts'

const ARGS = z.object({ emoji: text, to: text.optional() })
/** The longest emoji there are join several people, with their skins. */
const LONGEST_EMOJI = 32

/** Puts an emoji on a message of the conversation. Keyed by its call: after a crash it is put there again. */
export function react(reactions: PutsReactions): Tool {
  return {
    class: 'keyed',
    keepsWords: false,
    reach: 'inside',
    doing: 'reacting',
    spec: {
      name: 'react',
      description:
        'Puts an emoji on a message of this conversation. It is no answer: say something as well, or stay silent on purpose.',
      parameters: {
        type: 'object',
        properties: {
          emoji: { type: 'string', description: 'One emoji, such as 👍.' },
          to: { type: 'string', description: 'Words of another message here. Default: the message you answer.' },
        },
        required: ['emoji'],
        additionalProperties: false,
      },
    },
    async run(args, { turnId, sessionId, agentId, signal }) {
      const { emoji, to } = readArgs(ARGS, args)
      const one = emoji.trim()
      if (!isEmoji(one)) throw new ParleyError('invalid', 'emoji must be one emoji, such as 👍.')
      const wanted = { emoji: one, ...(to === undefined ? {} : { words: to }) }
      await reactions.react(wanted, { id: turnId, sessionId, agentId }, signal)
      return `${one} stands there. That is no answer.`
    },
  }
}

function isEmoji(text: string): boolean {
  const [first, ...others] = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)
  const emoji = /\p{Emoji_Presentation}|\p{Extended_Pictographic}|[#*0-9]\uFE0F?\u20E3|\p{Regional_Indicator}{2}/u
  return first !== undefined && others.length === 0 && text.length <= LONGEST_EMOJI && emoji.test(text)
}
