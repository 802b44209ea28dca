# Turns the cases into datasets of verbatim eval, one rule for each kind of expectation.
# cases.py OUT [PARAPHRASES]: with paraphrases, a case for each, in the place of its last turn.
import yaml,sys,decimal,os,re
R=os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
src,out,store=R+'/eval.yaml',sys.argv[1],'room.db'
para = yaml.safe_load(open(sys.argv[2])) if len(sys.argv)>2 else None
T=yaml.safe_load(open(R+'/heron/truth.json'))
F={f['id']:f for f in T['findings']}; C={c['id']:c for c in T['contradictions']}; G={g['id']:g for g in T['gaps']}
def near(v):
    d=decimal.Decimal(v); return "%s±%s"%(v, format((abs(d)*decimal.Decimal('0.005')).normalize(),'f'))
class Row(list): 'a list on one line'
yaml.SafeDumper.add_representer(Row,lambda d,r: d.represent_sequence('tag:yaml.org,2002:seq',r,flow_style=True))
SAME=[l.rstrip('\n').split(' | ') for l in open(R+'/make/told.txt') if l[0]!='#']
def tongues(check):
    "a check of what is told accepts it in each language that may have been asked in"
    key=next(iter(check))
    if key not in('told','told_any'): return check
    out=[]
    for t in [check[key]] if key=='told' else check[key]:
        out.append(t)
        if re.fullmatch(r'\d+(\.\d+)?( \S+)?',t): out.append(t.replace('.',','))
        for en,*others in SAME:
            m=re.fullmatch(re.escape(en).replace(r'\{\}','(.+)'),t)
            if m: out+=[o.replace('{}',m[1].replace('.',',')) if '{}' in o else o for o in others]
    out=list(dict.fromkeys(out))
    return {'told':out[0]} if len(out)==1 else {'told_any':Row(out)}
def checks(e): return [tongues(c) for c in expected(e)]
def expected(e):
    out=[]
    for f in e.get('figures',[]):
        files=[f['file']]+[o['file'] for o in f.get('or',[])]
        try: decimal.Decimal(f['value'])
        except Exception:
            y,m,d=f['value'].split('-'); mon=['January','February','March','April','May','June','July','August','September','October','November','December'][int(m)-1]
            out.append({'told_any':["%d %s %s"%(int(d),mon,y), f['value']]}); out.append({'row':{'document':sorted(set(files))}}); continue
        out.append({'row':{'value':near(f['value']),'document':sorted(set(files))}})
    for s in e.get('sources',[]): out.append({'row':{'document':s['file'],'place':s['place']}})
    for s in e.get('not_sources',[]): out.append({'no_row':{'document':s,'role':'claim'}})
    for c in e.get('contradictions',[]):
        for x in (C[c]['a'],C[c]['b']):
            f=F[x]; out.append({'row':{'document':f['file'],'value':near(f['value'])}})
    if 'at_least' in e:
        out.append({'told':'Contradictions'}); out.append({'row':{'role':'missing'}})
    v=e.get('variance')
    if v:
        alts=[v]+e.get('variance_alternatives',[])
        pc=[]
        for a in alts:
            if 'percent' in a:
                p=decimal.Decimal(a['percent']); pc+= [str(p+decimal.Decimal(x)/10)+' %' for x in (-1,0,1)]
            else: pc.append(str(a['difference'])+' pp')
        out.append({'told_any':[x.replace('.0 %',' %') for x in pc]})
        out.append({'row':{'value':[near(a['from']) for a in alts]}}); out.append({'row':{'value':[near(a['to']) for a in alts]}})
    for g in e.get('gaps',[]): out.append({'row':{'role':'missing','text':G[g]['request']}})
    for d,n in (e.get('coverage') or {}).items(): out.append({'told':"%s (%s"%(d,n)})
    x=e.get('explains')
    if x=='superseded': out.append({'told_any':['corrected','replaced','earlier version','supersede','draft']})
    if x=='no-data': out.append({'told_any':["couldn't find","no figure",'No ']})
    if e.get('offers')=='qa': out.append({'told':'Q&A'})
    if e.get('offers')=='drill-down': out.append({'told':'explore'})
    if e.get('asks'): out.append({'told':'Do you mean'})
    if e.get('assumes'): out.append({'told':e['assumes']})
    for t in e.get('tells',[]): out.append({'told':t})
    if e.get('tells_any'): out.append({'told_any':e['tells_any']})
    for t in e.get('not_tells',[]): out.append({'not_told':t})
    return out
cases=[]
for c in yaml.safe_load(open(src)):
    ch=checks(c['expects'])
    if para is None:
        cases.append({'id':c['id'],'turns':c['turns'],'intent':c['intent'],'expected_behavior':ch})
    else:
        p=para[c['id']] if isinstance(para,dict) else next(x for x in para if x['id']==c['id'])
        p=p if isinstance(p,list) else p.get('paraphrases') or p.get('turns')
        for i,t in enumerate(p):
            cases.append({'id':"%s-%02d"%(c['id'],i+1),'turns':c['turns'][:-1]+[t],'intent':c['intent'],'expected_behavior':ch})
yaml.SafeDumper.ignore_aliases=lambda *a: True
NOTE='# Made by room/make/cases.py of what an author expects who had not read the code. '+(
 'Kept apart: nothing was\n# ever tuned on these.\n' if para is not None else 'They were looked at while\n# answers were put together; paraphrases.yaml was not.\n')+'# The store is what ingest.sh makes of the room.\n'
fh=open(out,'w'); fh.write(NOTE)
yaml.safe_dump({'as':'ada','store':store,'cases':cases},fh,sort_keys=False,allow_unicode=True,width=200)
print(len(cases), sum(len(c['expected_behavior']) for c in cases))
