import { expect, it } from 'vitest'
import type { QuestionDesk } from '../../../src/core/question.ts'
import { answerCommand } from '../../../src/sessions/commands/answer.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { commandCall } from '../../fakes/command-call.ts'

it('F-H07: an id that many people share answers no question, and a person does', async () => {
  const asked: string[] = []
  const answer: QuestionDesk['answer'] = async (code) => {
    asked.push(code)
    return { answer: 'Red', late: false } as never
  }
  const command = answerCommand({ questions: { answer } as QuestionDesk, channels: CHANNELS })
  const call = commandCall('answer', 'ab12 1')
  expect(await command.run(call)).toBe('Noted: Red.')
  const event = { ...call.dispatch.event, sender: { id: '1087968824', kind: 'anonymous' } }
  const shared = { ...call, dispatch: { ...call.dispatch, event } } as never
  await expect(command.run(shared)).rejects.toMatchObject({ code: 'forbidden' })
  expect(asked).toEqual(['ab12'])
})
