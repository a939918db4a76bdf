import { randomInt } from 'node:crypto'
import type { OwnTools } from '../own-tools.d.ts'

/** An example: dice for the agent (`tools: [own.dice]`), and the command `/roll`. */
const dice: OwnTools = {
  tools: [
    {
      name: 'roll_dice',
      description: 'Rolls a die and returns what it shows. Use it whenever chance shall decide.',
      parameters: {
        type: 'object',
        properties: { sides: { type: 'integer', minimum: 2, maximum: 1000 } },
        additionalProperties: false,
      },
      reach: 'inside',
      foreign: false,
      run: ({ sides = 6 }) => `It shows ${roll(Number(sides))}.`,
    },
  ],
  commands: [
    {
      name: 'roll',
      description: 'Roll a die',
      args: 'how many sides it has, six by default',
      who: 'anyone',
      run: (args) => `It shows **${roll(Number(args || 6))}**.`,
    },
  ],
}

function roll(sides: number): number {
  if (!Number.isInteger(sides) || sides < 2 || sides > 1000) throw new Error('Say how many sides it has, 2 to 1000.')
  return randomInt(1, sides + 1)
}

export default dice
