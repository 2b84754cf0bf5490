package command

const configHelp = `
Flags about models, servers and budgets may also stand in refract.yaml in the
working directory, or in the file that --config names. A key is a flag's name
without the dashes:

  base-url: [http://a:8000/v1, http://b:8000/v1]
  model: gpt-4o-mini
  judge-model: gpt-4o
  cache: postgres://refract@db.example.org/answers
  prices:
    gpt-4o-mini: {input: 0.15, output: 0.60}
  max-cost: 25

or in the environment: REFRACT_BASE_URL, REFRACT_MODEL, REFRACT_MAX_COST and so
on. A flag wins over the environment, that over the file, and the file over the
default. Standard error names the file that is used. A secret has no place in
it: keys of servers are read from OPENAI_API_KEY, passwords of Postgres from
PGPASSWORD or ~/.pgpass.`
