import * as z from 'zod'
import { text, url } from './schema-parts.ts'

/** No `_`, so that the name of a tool says where that of its server ends. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/

const patterns = z.array(text).min(1)
const named = (form: RegExp, error: string) => z.string().refine((name) => form.test(name), { error })

const server = z.strictObject({
  command: text.exactOptional().describe('A program that is started at the first use, such as npx.'),
  args: z.array(z.string()).exactOptional(),
  env: z
    .record(named(VARIABLE, 'must be the name of a variable'), z.string())
    .exactOptional()
    .describe('Variables of its environment; besides these it gets PATH, HOME, LOGNAME, SHELL, TERM and USER.'),
  folder: text.exactOptional().describe('The folder it is started in; relative to this file.'),
  url: url.exactOptional().describe('Instead of a command: a server by streamable HTTP. It may be on this machine.'),
  headers: z.record(named(HEADER, 'must be the name of a header'), z.string()).exactOptional(),
  tools: patterns
    .exactOptional()
    .describe(
      'The tools that may be used, by the names the server gives them; one that ends in * is a beginning. Default: all.',
    ),
  inside: z
    .array(z.union([text, z.strictObject({ tools: patterns, in: patterns.exactOptional() })]))
    .default([])
    .describe(
      'Tools that touch nothing outside of the conversation, by your word: they need no yes there. With { tools, in }: only in the sessions that in names, each with its topics.',
    ),
  trusted: z
    .boolean()
    .exactOptional()
    .describe(
      'How a server of a url describes its tools is read by the model and is nobody’s words: an agent that has it writes to no other session without a yes, and rules given in chats do not hold for it. True: you have read them (parley mcp test) and trust the server not to change them. A command runs with your own rights and is trusted anyway.',
    ),
  timeoutSeconds: z.int().min(1).max(3_600).default(60).describe('The longest that one call may take.'),
})

/** The tool servers, by name. */
export const mcp = z
  .record(named(NAME, 'must be a name of a-z 0-9 -, at most 32'), server)
  .default({})
  .describe(
    'Tool servers (Model Context Protocol). The tools of each are a group for the tools of an agent: mcp.<name>. A call of one asks for a yes, unless inside or the policy says otherwise.',
  )

/** Files with tools and commands of the operator's own, by name. */
export const own = z
  .record(named(NAME, 'must be a name of a-z 0-9 -, at most 32'), text)
  .default({})
  .describe(
    'Files in TypeScript or JavaScript with tools and commands of your own, relative to this file; config/own-tools.d.ts says what they export. The tools are a group for the tools of an agent: own.<name>.',
  )
