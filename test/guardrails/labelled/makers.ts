/**
 * Formats of keys by vendor, as their documentation states them. `{x36}` is 36 random characters: `a` letters and
 * digits, `h` hexadecimal digits, `l` small letters and digits, `u` capitals and digits, `w` of base64url, `b` of
 * base64, `d` digits, `c` small letters. If only a part is secret, it is in `<>`. The keys are made at test time, so
 * that none is in the repository.
 */
export type Maker = {
  name: string
  /** Formats with a prefix of the vendor. */
  formats?: readonly string[]
  /** Formats without a prefix, with the names of variables and their names in prose. */
  named?: readonly { format: string; variable: string; prose: string }[]
}

const named = (format: string, variable: string, prose: string) => ({ format, variable, prose })

export const MAKERS: readonly Maker[] = [
  { name: "Anthropic", formats: ["sk-ant-api03-{w93}AA", "sk-ant-admin01-{w93}AA"] },
  { name: "OpenAI", formats: ["sk-{a20}T3BlbkFJ{a20}", "sk-proj-{w74}T3BlbkFJ{w74}", "sk-svcacct-{w58}"] },
  { name: "Mistral", named: [named("{a32}", "MISTRAL_API_KEY", "Mistral API key")] },
  { name: "Hugging Face", formats: ["hf_{a34}"] },
  { name: "Groq", formats: ["gsk_{a52}"] },
  { name: "xAI", formats: ["xai-{a80}"] },
  { name: "Perplexity", formats: ["pplx-{a48}"] },
  { name: "Replicate", formats: ["r8_{a37}"] },
  { name: "NVIDIA", formats: ["nvapi-{w64}"] },
  { name: "Cohere", named: [named("{a40}", "COHERE_API_KEY", "Cohere key")] },
  { name: "DeepSeek", formats: ["sk-{h32}"] },
  { name: "OpenRouter", formats: ["sk-or-v1-{h64}"] },
  { name: "LangSmith", formats: ["lsv2_pt_{h32}_{h10}"] },
  { name: "Pinecone", formats: ["pcsk_{a6}_{a63}"] },
  {
    name: "AWS",
    formats: ["AKIA{u16}", "ASIA{u16}"],
    named: [named("{b40}", "AWS_SECRET_ACCESS_KEY", "AWS secret access key")],
  },
  { name: "Google", formats: ["AIza{w35}", "GOCSPX-{w28}", "ya29.{w100}"] },
  {
    name: "Azure",
    formats: ["{a3}8Q~{w34}"],
    named: [
      named("{b86}==", "AZURE_STORAGE_KEY", "Azure storage account key"),
      named("{h32}", "AZURE_OPENAI_API_KEY", "Azure OpenAI key"),
      named("{l52}", "AZURE_DEVOPS_TOKEN", "Azure DevOps token"),
    ],
  },
  { name: "DigitalOcean", formats: ["dop_v1_{h64}", "doo_v1_{h64}"] },
  {
    name: "Alibaba",
    formats: ["LTAI{a20}"],
    named: [named("{a30}", "ALIBABA_CLOUD_ACCESS_KEY_SECRET", "Alibaba access key secret")],
  },
  {
    name: "Heroku",
    formats: ["HRKU-AA{w58}"],
    named: [named("{h8}-{h4}-{h4}-{h4}-{h12}", "HEROKU_API_KEY", "Heroku API key")],
  },
  { name: "Fly", formats: ["fo1_{w43}", "fm2_{b120}"] },
  { name: "Netlify", formats: ["nfp_{a36}"], named: [named("{w43}", "NETLIFY_AUTH_TOKEN", "Netlify access token")] },
  { name: "Vercel", formats: ["vercel_blob_rw_{a16}_{a30}"], named: [named("{a24}", "VERCEL_TOKEN", "Vercel token")] },
  {
    name: "Cloudflare",
    formats: ["v1.0-{h24}-{h146}"],
    named: [
      named("{w40}", "CLOUDFLARE_API_TOKEN", "Cloudflare API token"),
      named("{h37}", "CLOUDFLARE_API_KEY", "Cloudflare global API key"),
    ],
  },
  {
    name: "Supabase",
    formats: ["sbp_{h40}", "sb_secret_{w31}"],
    named: [named("eyJ{w33}.eyJ{w90}.{w43}", "SUPABASE_SERVICE_ROLE_KEY", "Supabase service role key")],
  },
  { name: "PlanetScale", formats: ["pscale_tkn_{w43}", "pscale_pw_{w43}"] },
  { name: "Neon", formats: ["napi_{l64}"] },
  {
    name: "MongoDB",
    named: [named("{h8}-{h4}-{h4}-{h4}-{h12}", "MONGODB_ATLAS_PRIVATE_KEY", "MongoDB Atlas private key")],
  },
  { name: "Snowflake", named: [named("{a24}", "SNOWFLAKE_PASSWORD", "Snowflake password")] },
  { name: "Databricks", formats: ["dapi{h32}"] },
  { name: "Terraform", formats: ["{a14}.atlasv1.{w67}"] },
  { name: "Pulumi", formats: ["pul-{h40}"] },
  { name: "Vault", formats: ["hvs.{w95}"] },
  { name: "Doppler", formats: ["dp.pt.{a43}", "dp.st.dev.{a43}"] },
  { name: "1Password", formats: ["ops_eyJ{w250}"] },
  { name: "Tailscale", formats: ["tskey-auth-{a12}CNTRL-{a32}", "tskey-api-{a12}CNTRL-{a32}"] },
  { name: "GitHub", formats: ["ghp_{a36}", "gho_{a36}", "ghs_{a36}", "github_pat_{a22}_{a59}"] },
  { name: "GitLab", formats: ["glpat-{w20}", "gldt-{w20}", "glrt-{w20}"] },
  { name: "Bitbucket", formats: ["ATBB{a32}"] },
  { name: "Atlassian", formats: ["ATATT3{w186}"] },
  { name: "npm", formats: ["npm_{a36}"] },
  { name: "PyPI", formats: ["pypi-AgEIcHlwaS5vcmc{w150}"] },
  { name: "RubyGems", formats: ["rubygems_{h48}"] },
  { name: "crates.io", formats: ["cio{a32}"] },
  { name: "NuGet", formats: ["oy2{l43}"] },
  { name: "Docker", formats: ["dckr_pat_{w27}"] },
  { name: "Artifactory", formats: ["AKCp{a69}", "cmVmd{a59}"] },
  { name: "CircleCI", formats: ["CCIPAT_{a22}_{h40}"], named: [named("{h40}", "CIRCLE_TOKEN", "CircleCI token")] },
  { name: "Buildkite", formats: ["bkua_{h40}"] },
  { name: "SonarQube", formats: ["squ_{h40}"] },
  { name: "Snyk", named: [named("{h8}-{h4}-{h4}-{h4}-{h12}", "SNYK_TOKEN", "Snyk token")] },
  { name: "Sourcegraph", formats: ["sgp_{h16}_{h40}"] },
  { name: "Postman", formats: ["PMAK-{h24}-{h34}"] },
  { name: "Octopus", formats: ["API-{u26}"] },
  { name: "Stripe", formats: ["sk_live_{a24}", "rk_live_{a24}", "whsec_{a32}", "sk_test_{a99}"] },
  { name: "Square", formats: ["EAAA{w60}", "sq0atp-{w22}", "sq0csp-{w43}"] },
  { name: "Shopify", formats: ["shpat_{h32}", "shpss_{h32}"] },
  { name: "Razorpay", formats: ["rzp_live_{a14}"] },
  { name: "PayPal", named: [named("{w80}", "PAYPAL_CLIENT_SECRET", "PayPal client secret")] },
  {
    name: "Plaid",
    formats: ["access-production-{h8}-{h4}-{h4}-{h4}-{h12}"],
    named: [named("{h30}", "PLAID_SECRET", "Plaid secret")],
  },
  { name: "Flutterwave", formats: ["FLWSECK_TEST-{h32}-X"] },
  { name: "EasyPost", formats: ["EZAK{a54}"] },
  { name: "Shippo", formats: ["shippo_live_{h40}"] },
  {
    name: "Slack",
    formats: [
      "xoxb-{d12}-{d13}-{a24}",
      "xoxp-{d12}-{d12}-{d12}-{h32}",
      "xapp-1-A{u10}-{d13}-{h64}",
      "https://hooks.slack.com/services/T{u8}/B{u10}/{a24}",
    ],
  },
  {
    name: "Discord",
    formats: ["MTA{a21}.G{a5}.{w38}", "https://discord.com/api/webhooks/{d18}/{w68}"],
    named: [named("{w32}", "DISCORD_CLIENT_SECRET", "Discord client secret")],
  },
  { name: "Telegram", formats: ["{d10}:AA{w33}", "https://api.telegram.org/bot<{d9}:AA{w33}>/getMe"] },
  { name: "Twilio", formats: ["SK{h32}"], named: [named("{h32}", "TWILIO_AUTH_TOKEN", "Twilio auth token")] },
  { name: "Twitch", named: [named("{l30}", "TWITCH_CLIENT_SECRET", "Twitch client secret")] },
  {
    name: "Facebook",
    formats: ["EAACEdEose0cBA{a140}"],
    named: [named("{h32}", "FACEBOOK_APP_SECRET", "Facebook app secret")],
  },
  {
    name: "Twitter",
    named: [
      named("{a50}", "TWITTER_API_SECRET", "Twitter API secret"),
      named("{d19}-{a30}", "TWITTER_ACCESS_TOKEN", "Twitter access token"),
    ],
  },
  { name: "SendGrid", formats: ["SG.{w22}.{w43}"] },
  { name: "Mailgun", formats: ["key-{h32}"], named: [named("{h32}-{h8}-{h8}", "MAILGUN_API_KEY", "Mailgun API key")] },
  { name: "Mailchimp", formats: ["{h32}-us12"] },
  { name: "Brevo", formats: ["xkeysib-{h64}-{a16}"] },
  { name: "Resend", formats: ["re_{a8}_{a24}"] },
  { name: "Postmark", named: [named("{h8}-{h4}-{h4}-{h4}-{h12}", "POSTMARK_SERVER_TOKEN", "Postmark server token")] },
  { name: "Linear", formats: ["lin_api_{a40}"] },
  { name: "Notion", formats: ["ntn_{d11}{a35}", "secret_{a43}"] },
  { name: "Airtable", formats: ["pat{a14}.{h64}"] },
  { name: "Asana", named: [named("{h32}", "ASANA_CLIENT_SECRET", "Asana client secret")] },
  { name: "Figma", formats: ["figd_{w40}"] },
  { name: "Dropbox", formats: ["sl.{w135}"] },
  { name: "Contentful", formats: ["CFPAT-{w43}"] },
  { name: "HubSpot", formats: ["pat-na1-{h8}-{h4}-{h4}-{h4}-{h12}"] },
  { name: "Zendesk", named: [named("{a40}", "ZENDESK_API_TOKEN", "Zendesk API token")] },
  { name: "Intercom", named: [named("dG9rOj{a52}=", "INTERCOM_ACCESS_TOKEN", "Intercom access token")] },
  { name: "Okta", named: [named("00{w40}", "OKTA_API_TOKEN", "Okta API token")] },
  { name: "Auth0", named: [named("{w64}", "AUTH0_CLIENT_SECRET", "Auth0 client secret")] },
  {
    name: "Sentry",
    formats: ["sntrys_eyJpYXQiO{w120}_{b43}", "sntryu_{h64}", "https://{h32}@o{d6}.ingest.sentry.io/{d7}"],
  },
  {
    name: "Datadog",
    named: [named("{h32}", "DD_API_KEY", "Datadog API key"), named("{h40}", "DD_APP_KEY", "Datadog application key")],
  },
  {
    name: "PagerDuty",
    formats: ["pdus+_0XBPWQQ_{a8}-{h8}"],
    named: [named("u+{w18}", "PAGERDUTY_TOKEN", "PagerDuty token")],
  },
  { name: "Grafana", formats: ["glc_{b60}", "glsa_{a32}_{h8}"] },
  { name: "New Relic", formats: ["NRAK-{u27}", "NRII-{w32}", "{h36}NRAL"] },
  { name: "Dynatrace", formats: ["dt0c01.{u24}.{u64}"] },
  { name: "Mapbox", formats: ["sk.eyJ{w60}.{w22}"] },
  { name: "Algolia", named: [named("{h32}", "ALGOLIA_ADMIN_KEY", "Algolia admin key")] },
  { name: "PostHog", formats: ["phx_{a43}"] },
  { name: "JWT", formats: ["eyJ{w33}.eyJ{w120}.{w43}"] },
  { name: "age", formats: ["AGE-SECRET-KEY-1{u58}"] },
  {
    name: "PEM",
    formats: [
      "-----BEGIN RSA PRIVATE KEY-----\n{b64}\n{b64}\n{b64}\n{b40}==\n-----END RSA PRIVATE KEY-----",
      "-----BEGIN PRIVATE KEY-----\\n{b64}\\n{b64}\\n{b22}\\n-----END PRIVATE KEY-----",
    ],
  },
  {
    name: "database",
    formats: [
      "postgres://app:{a14}@db.internal:5432/shop",
      "mongodb+srv://svc:{a16}@cluster0.{l6}.mongodb.net",
      "redis://:{a20}@cache:6379",
    ],
    named: [
      named("{a6}#{a8}!", "DB_PASSWORD", "database password"),
      named("{c6}{d3}!", "MYSQL_ROOT_PASSWORD", "MySQL root password"),
    ],
  },
  {
    name: "login",
    named: [
      named("{a5}!{d3}{c4}", "ADMIN_PASSWORD", "admin password"),
      named("{a20}", "SESSION_SECRET", "session secret"),
      named("{h64}", "ENCRYPTION_KEY", "encryption key"),
      named("{a32}", "JWT_SECRET", "JWT secret"),
    ],
  },
]
