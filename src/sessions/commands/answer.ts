import { senderAuthor } from '../../core/author.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import { identifiesNobody } from '../../core/platform-id.ts'
import type { QuestionDesk } from '../../core/question.ts'

export interface AnswerDeps {
  readonly questions: QuestionDesk
  readonly channels: Channels
}

/**
 * `/answer <code> <number or words>` answers a question that stands in this conversation; its buttons give the same.
 * The desk decides who may.
 */
export function answerCommand({ questions, channels }: AnswerDeps): ChatCommand {
  return {
    name: 'answer',
    description: 'Answer a question of mine',
    args: 'the code of the question, and a number or your words',
    who: 'anyone',
    async run({ args, dispatch: { event }, decision }) {
      const [, code, words = ''] = /^(\S+)\s*([\s\S]*)$/.exec(args.trim()) ?? []
      if (code === undefined)
        throw new ParleyError('invalid', 'Say `/answer`, the code of the question and your answer.')
      const { address, sender } = event
      // An id that many people share is nobody, who answers for nobody.
      if (identifiesNobody(channels, address.channel, sender))
        throw new ParleyError('forbidden', 'That question is not for you.')
      const { answer, late } = await questions.answer(code, words, {
        ...{ author: senderAuthor(channels, address.channel, sender), sender, identity: decision.identity, address },
        ...(decision.public ? { stranger: true } : {}),
      })
      return `Noted: ${answer?.replace(/\s+/gu, ' ')}.${late ? ' I go on with it.' : ''}`
    },
  }
}
