// An agent of Vercel's AI SDK that calls two tools at the same time, and streams its second run.
import { openai } from '@ai-sdk/openai';
import { OpenTelemetry } from '@ai-sdk/otel';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { generateText, isStepCount, registerTelemetry, streamText, tool } from 'ai';
import { z } from 'zod';

const exporter = new OTLPTraceExporter({
  url: `${process.env.TIMEMACHINE_URL}/v1/traces`,
  headers: { authorization: `Bearer ${process.env.TIMEMACHINE_API_KEY}` },
});
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
provider.register();
registerTelemetry(new OpenTelemetry({ usage: true }));

const weather = tool({
  description: 'Look up the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    if (city === 'Atlantis') throw new Error('There is no such city.');
    return `Sunny in ${city}`;
  },
});
const settings = {
  model: openai.chat('gpt-4o-mini'),
  instructions: 'Answer with the tools.',
  tools: { weather },
  stopWhen: isStepCount(5),
};

await trace.getTracer('desk').startActiveSpan('talk', { attributes: { 'session.id': 'talk-1' } }, async (span) => {
  const first = await generateText({ ...settings, prompt: 'How is the weather in Rome and Atlantis?' });
  console.log(first.text);
  const second = streamText({ ...settings, prompt: 'And tomorrow?' });
  console.log(await second.text);
  span.end();
});
await provider.shutdown(); // sends the rest
