import * as z from 'zod'
import { textContent } from '../../core/content.ts'
import type { MemoryTools } from '../../core/memory.ts'
import type { Tool } from '../../core/turn.ts'
import { readArgs, text } from './read-args.ts'

const ARGS = z.object({ text })

/** Keeps a text for this conversation. Keyed by its call: after a crash it is kept once. */
export function memorySave(memory: Pick<MemoryTools, 'save'>): Tool {
  return {
    class: 'keyed',
    reach: 'inside',
    doing: 'making a note of that',
    spec: {
      name: 'memory_save',
      description:
        'Remembers a fact about people here or what they decided, one sentence, with the name of whoever said it.',
      parameters: {
        type: 'object',
        properties: { text: { type: 'string', description: 'The sentence.' } },
        required: ['text'],
        additionalProperties: false,
      },
    },
    async run(args, { turnId: id, sessionId, agentId, callId }) {
      const { no } = await memory.save(readArgs(ARGS, args).text, { id, sessionId, agentId }, `${id} ${callId}`)
      return { content: textContent(`Remembered under number ${no}.`) }
    },
  }
}
