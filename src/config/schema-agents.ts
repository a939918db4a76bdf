import * as z from 'zod'
import { VOICE_MODES } from '../core/audio.ts'
import { mcp, own } from './schema-mcp.ts'
import { modelName, text, url } from './schema-parts.ts'

/** The model of a group of sessions that clients start. */
export const workspace = z.strictObject({
  name: text.describe('The name that a client gives at the start of a session.'),
  model: modelName.describe('Goes before the model of the agent, and behind one that the start names itself.'),
})

/** One agent: its models, limits, instructions and tools. */
export const agent = z.strictObject({
  id: text,
  model: modelName
    .exactOptional()
    .describe(
      '<server>/<model> with a server of models, scripted/echo (repeats what people say) or scripted/<file>. Default: anthropic/claude-sonnet-5-5 or openai/gpt-5.4, whose key is set; without one the agent has no model and says so to whoever asks it.',
    ),
  models: z
    .array(modelName)
    .exactOptional()
    .describe('Models a session may be set to beside it; without the list any of a server under models.'),
  fallback: z
    .array(modelName)
    .max(5)
    .exactOptional()
    .describe('Models that answer where the model cannot be called: the first of them that can, in this order.'),
  maxSteps: z
    .int()
    .min(1)
    .max(200)
    .exactOptional()
    .describe('Calls of the model in one turn; a turn that uses tools needs one more than it has steps. Default: 10.'),
  summaryModel: modelName
    .exactOptional()
    .describe('The model that sums up what was said long ago, such as a cheaper one. Default: that of the agent.'),
  contextTokens: z
    .int()
    .min(1_000)
    .max(10_000_000)
    .exactOptional()
    .describe(
      'Tokens that the model reads at once. Default: what is known of the model; of a model of your own nothing is, so say it here.',
    ),
  answerTokens: z
    .int()
    .min(64)
    .max(200_000)
    .exactOptional()
    .describe('The longest answer of the model, in tokens, without what it thinks. Default: 4096.'),
  voice: z
    .enum(VOICE_MODES)
    .exactOptional()
    .describe(
      'Which answers are spoken, where audio.speak is set: never (the default), when-spoken-to (those to a voice note), always. /voice sets it for one conversation.',
    ),
  prompt: text
    .exactOptional()
    .describe(
      'A text file with the instructions of the agent; {{ctx.<name>}} in it is a variable that a client of its own gives at the start of a session. Default: the text of prompts/agent.md.',
    ),
  skills: text
    .exactOptional()
    .describe(
      'A folder of skills: instructions for certain kinds of work, each in <name>/SKILL.md, which the agent loads when it needs them.',
    ),
  tools: z
    .array(text)
    .exactOptional()
    .describe(
      'time (the default); sessions: list, read and write to the other conversations the person it answers may see; message: write to another conversation, after a yes; files: send files here; ask: put questions with buttons; react: put an emoji on a message; task: work in a session of its own; schedule: reminders and tasks for the chat where somebody asks; web: read web pages, and search where tools.web.search is set; mcp.<name>: those of a server under tools.mcp; own.<name>: those of a file under tools.own; memory: keep and find what was said, by checkpoints (session.checkpoint), /memory and /remember too.',
    ),
})

const host = text.toLowerCase().regex(/^(\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\.[a-z0-9-]+$/, {
  error: 'must be a host name such as example.org, or *.example.org for all below it',
})

const web = z
  .strictObject({
    allowedHosts: z
      .array(host)
      .default([])
      .describe(
        'Hosts whose pages the agent reads without asking: example.org, or *.example.org for all below it. It may say anything in an address, so name only hosts whose operators you trust with what it knows.',
      ),
    search: z
      .strictObject({
        provider: z.enum(['searxng', 'brave', 'tavily']).describe('searxng: your own server, its JSON format on.'),
        url: url.exactOptional().describe('For searxng, such as http://127.0.0.1:8080. It may be on this machine.'),
        apiKey: text.exactOptional().describe('For brave and tavily.'),
      })
      .exactOptional()
      .describe('The search service. Without it the agent has no tool that searches.'),
  })
  .prefault({})

/** The limits of the tools of all agents. */
export const tools = z
  .strictObject({
    results: z
      .strictObject({
        maxCharacters: z
          .int()
          .min(1_000)
          .max(10_000_000)
          .default(200_000)
          .describe(
            'The longest result of one call; of a longer one the model is shown this much, and the whole is kept as a file.',
          ),
        pruneFrom: z
          .int()
          .min(1_000)
          .max(10_000_000)
          .default(50_000)
          .describe(
            'Characters from which a result may be shortened in later steps of its turn: above 30 % of what the model reads at once to its ends, above 50 % to a notice.',
          ),
      })
      .prefault({}),
    policy: z
      .array(
        z.strictObject({
          tools: z
            .array(text)
            .min(1)
            .describe('Names of tools, such as sessions_send; one that ends in * stands for all that begin like it.'),
          who: z
            .array(text)
            .min(1)
            .describe(
              'owner, member (owners too), everybody, or names from people. It has to fit everybody whose words the turn was shown; a page or a stranger is everybody alone.',
            ),
          in: z
            .array(text)
            .min(1)
            .exactOptional()
            .describe(
              'Sessions by their key, <channel>:<direct|group|channel>:<chat>, which `parley sessions show` says; each with its topics and senders. Default: everywhere.',
            ),
          action: z
            .enum(['allow', 'ask', 'deny'])
            .describe('ask: an owner is asked in the chat, and nothing is done before.'),
          approvers: z
            .array(text)
            .min(1)
            .exactOptional()
            .describe('With action ask: names from people, who may answer besides owners, once.'),
        }),
      )
      .default([])
      .describe(
        'Whether a tool may be used: the first rule that fits, of several people the strictest. Default: what acts outside of its conversation is asked about, all else is allowed.',
      ),
    sessions: z
      .strictObject({
        agents: z
          .array(text)
          .default([])
          .describe("Agents that may reach each other's sessions. Default: none; each reaches its own only."),
        inGroups: z
          .enum(['here', 'asker'])
          .default('here')
          .describe(
            'Where others see the answer, the session tools read that conversation alone (here), or what everybody who asks could read (asker): then all who read along are shown it, in the chat or by a token for its channel.',
          ),
      })
      .prefault({}),
    web,
    mcp,
    own,
  })
  .prefault({})
