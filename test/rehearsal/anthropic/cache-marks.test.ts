import { describe, expect, test } from 'vitest'
import { ask, post, rehearse } from './rehearsal.ts'

const cache_control = { type: 'ephemeral' }
const long = { type: 'ephemeral', ttl: '1h' }
const tools = [{ name: 'weather', input_schema: { type: 'object' }, cache_control }]
const word = { type: 'text', text: 'hi' }

/** A request whose user message has these blocks. */
function withBlocks(...content: object[]): object {
  return { ...ask('x'), messages: [{ role: 'user', content }] }
}

function times(count: number, block: object): object[] {
  return Array.from({ length: count }, () => block)
}

describe('the Messages API refuses', () => {
  const order =
    "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."

  test.each([
    [
      'five marks',
      { ...withBlocks(...times(4, { ...word, cache_control })), tools },
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
    [
      'an automatic mark as the fifth',
      { ...withBlocks(...times(4, { ...word, cache_control }), word), cache_control },
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
    [
      'another type',
      { ...ask('x'), system: [{ ...word, cache_control: { type: 'persistent' } }] },
      "system.0.cache_control: Input tag 'persistent' found using 'type' does not match any of the expected tags: 'ephemeral'",
    ],
    [
      'a mark that is no object',
      { ...ask('x'), tools: [{ ...tools[0], cache_control: true }] },
      'tools.0.custom.cache_control: Input should be a valid dictionary or object to extract fields from',
    ],
    [
      'a mark without a type',
      withBlocks({ ...word, cache_control: {} }),
      "messages.0.content.0.text.cache_control: Unable to extract tag using discriminator 'type'",
    ],
    [
      'another lifetime',
      withBlocks(word, { ...word, cache_control: { type: 'ephemeral', ttl: '2h' } }),
      "messages.0.content.1.text.cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
    ],
    [
      'a lifetime of the automatic mark that there is not',
      { ...ask('x'), cache_control: { type: 'ephemeral', ttl: 300 } },
      "cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
    ],
    [
      'a further field',
      { ...ask('x'), system: [{ ...word, cache_control: { ...cache_control, scope: 'all' } }] },
      'system.0.cache_control.ephemeral.scope: Extra inputs are not permitted',
    ],
    [
      'a marked thought',
      {
        ...ask('x'),
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 's', cache_control }] },
        ],
      },
      'messages.1.content.0.thinking.cache_control: Extra inputs are not permitted',
    ],
    [
      'a marked empty text',
      withBlocks(word, { type: 'text', text: '', cache_control }),
      'messages.0.content.1.text: cache_control cannot be set for empty text blocks',
    ],
    [
      'an hour after five minutes',
      { ...withBlocks(word, { ...word, cache_control: long }), tools },
      `messages.0.content.1.cache_control.ttl: ${order}`,
    ],
    [
      'an automatic hour after five minutes',
      { ...ask('x'), tools, cache_control: long },
      `cache_control.ttl: ${order}`,
    ],
    [
      'an automatic mark for another time than the one it meets',
      { ...withBlocks({ ...word, cache_control: long }), cache_control },
      'cache_control: ',
    ],
  ])('%s', async (_name, body, message) => {
    const server = await rehearse()
    expect(await post(server, body)).toContain(`400 invalid_request_error: ${message}`)
    expect(server.ledger.requests()).toHaveLength(0)
  })
})

describe('the Messages API accepts', () => {
  test.each([
    ['four marks', { ...withBlocks(...times(3, { ...word, cache_control })), tools }],
    [
      'three marks and the automatic one',
      { ...withBlocks(...times(2, { ...word, cache_control }), word), tools, cache_control },
    ],
    [
      'four marks of which the automatic one meets the last',
      { ...withBlocks(...times(4, { ...word, cache_control })), cache_control },
    ],
    [
      'an hour before five minutes',
      { ...withBlocks({ ...word, cache_control }), system: [{ ...word, cache_control: long }] },
    ],
    ['a mark that is null', withBlocks({ ...word, cache_control: null })],
    ['the words of a mark in a text', withBlocks(...times(5, { type: 'text', text: '"cache_control":{' }))],
    [
      'a mark as the input of a tool',
      {
        ...ask('x'),
        tools,
        messages: [
          { role: 'user', content: 'x' },
          {
            role: 'assistant',
            content: ['a', 'b', 'c', 'd'].map((id) => ({
              type: 'tool_use',
              id,
              name: 'weather',
              input: { cache_control },
            })),
          },
          { role: 'user', content: ['a', 'b', 'c', 'd'].map((id) => ({ type: 'tool_result', tool_use_id: id })) },
        ],
      },
    ],
  ])('%s', async (_name, body) => {
    expect(await post(await rehearse(), body)).toBe('accepted')
  })
})
