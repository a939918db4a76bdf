import * as z from 'zod'
import type { PostsMessages } from '../../core/post-message.ts'
import type { Tool } from '../../core/turn.ts'
import { readArgs, text } from './read-args.ts'

const ARGS = z.object({ to: text, text })

/**
 * Says a text in another conversation. It acts beyond its own, so that a person is asked unless the policy allows it.
 * Keyed by its call: after a crash it is said once.
 */
export function sendMessage(posts: PostsMessages): Tool {
  return {
    class: 'keyed',
    reach: 'beyond',
    doing: 'writing elsewhere',
    spec: {
      name: 'send_message',
      description:
        'Says a text in another conversation as it is, without asking an agent there. A person is asked for a yes first.',
      parameters: {
        type: 'object',
        properties: {
          to: { type: 'string', description: 'A key of a conversation, such as sessions_list shows.' },
          text: { type: 'string', description: 'What is said there, in Markdown.' },
        },
        required: ['to', 'text'],
        additionalProperties: false,
      },
    },
    async run(args, { turnId, sessionId, agentId, callId }) {
      const { to } = await posts.post(readArgs(ARGS, args), { id: turnId, sessionId, agentId }, callId)
      return `On its way to ${to}. Should it not arrive, you are shown that here.`
    },
  }
}
