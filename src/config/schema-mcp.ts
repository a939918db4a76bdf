import * as z from 'zod'
import { text, url } from './schema-parts.ts'

/** No `_`, so that the name of a tool says where that of its server ends. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/

/** The way to a value in the arguments of a call: names, each with `[]` behind it where it is a list. */
const ARGUMENT = /^[A-Za-z_$][\w$-]*(\[\])*(\.[A-Za-z_$][\w$-]*(\[\])*)*$/

const patterns = z.array(text).min(1)
const named = (form: RegExp, error: string) => z.string().refine((name) => form.test(name), { error })

const argument = named(ARGUMENT, 'must be the name of an argument such as path, paths[] or edits[].path')

const taken = z.strictObject({
  tools: patterns,
  paths: z.array(argument).exactOptional().describe('The arguments that are paths of files or folders.'),
  command: z
    .union([argument, z.array(argument).min(1)])
    .exactOptional()
    .describe('The argument that is a command, or several that make one up: [program, "args[]"].'),
})

const server = z.strictObject({
  command: text
    .exactOptional()
    .describe('A program that is started with the daemon, such as npx; with a / in it, relative to this file.'),
  args: z.array(z.string()).exactOptional(),
  env: z
    .record(named(VARIABLE, 'must be the name of a variable'), z.string())
    .exactOptional()
    .describe('Variables of its environment; besides these it gets PATH, HOME, LOGNAME, SHELL, TERM and USER.'),
  folder: text
    .exactOptional()
    .describe('The folder it is started in, relative to this file; default: that of this file.'),
  url: url.exactOptional().describe('Instead of a command: a server by streamable HTTP. It may be on this machine.'),
  headers: z.record(named(HEADER, 'must be the name of a header'), z.string()).exactOptional(),
  oauth: z
    .strictObject({
      clientId: text
        .exactOptional()
        .describe('Parley as the authorization server knows it. Default: it makes itself known.'),
      clientSecret: text.exactOptional(),
      scopes: z.array(text).min(1).exactOptional().describe('What is asked for. Default: what the server names.'),
    })
    .exactOptional()
    .describe('For a url where one logs in: parley mcp login <name>. Most servers need nothing here.'),
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
  arguments: z
    .array(taken)
    .min(1)
    .exactOptional()
    .describe(
      'What the arguments of its tools are; the first entry that names a tool counts. With it, calls are held to tier, folders and allowedCommands. Without it nothing is known of them: any call is passed on.',
    ),
  tier: z
    .enum(['full', 'workspace', 'sandboxed'])
    .exactOptional()
    .describe(
      'Where paths may lead: sandboxed (the default) to one folder, workspace to several, full anywhere. With the first two, tools that arguments does not name are left out.',
    ),
  folders: z
    .array(text)
    .min(1)
    .exactOptional()
    .describe('The folders of sandboxed or workspace, each with all that is in it; relative to this file.'),
  allowedCommands: z
    .array(text)
    .exactOptional()
    .describe(
      'The programs that a command may begin with, as it is written there, or whole commands. Without one, a command is refused.',
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
