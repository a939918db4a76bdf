import * as z from 'zod'
import { ParleyError } from '../../core/errors.ts'
import { type FileRequest, type FileSender, SEND_FILE } from '../../core/send-file.ts'
import type { Tool } from '../../core/turn.ts'
import { readArgs, text } from './read-args.ts'

const ARGS = z.object({
  name: text.exactOptional(),
  text: z.string('must be a text').exactOptional(),
  file: text.exactOptional(),
  caption: z.string('must be a text').exactOptional(),
})

/**
 * Sends a file into the conversation that is answered, and nowhere else. Keyed by its call: after a crash it is sent
 * once.
 */
export function sendFile(files: FileSender): Tool {
  return {
    class: 'keyed',
    reach: 'inside',
    doing: 'sending a file',
    spec: {
      name: SEND_FILE,
      description:
        'Sends a file to this conversation: a text that you write, or a file that you were shown here, by its handle. Your answer follows it as usual.',
      parameters: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'The name with its ending: report.md, table.csv.' },
          text: { type: 'string', description: 'What stands in the file. Either this or file.' },
          file: { type: 'string', description: 'A handle that you were shown here: media://sha256-…' },
          caption: { type: 'string', description: 'A line below it, in Markdown.' },
        },
        additionalProperties: false,
      },
    },
    async run(args, { turnId, sessionId, agentId, callId }) {
      const sent = await files.send(readRequest(args), { id: turnId, sessionId, agentId }, callId)
      return `On its way: ${sent}. Should it not arrive, you are shown that here.`
    },
  }
}

function readRequest(args: unknown): FileRequest {
  const { text: content, file, ...more } = readArgs(ARGS, args)
  if ((content === undefined) === (file === undefined)) throw new ParleyError('invalid', 'Give either text or file.')
  if (file !== undefined) return { ...more, handle: file }
  if (more.name === undefined) throw new ParleyError('invalid', 'A text needs a name, such as notes.md.')
  return { ...more, text: content ?? '' }
}
