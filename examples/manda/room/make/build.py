import os,sys,re,json,subprocess,html,datetime,glob,shutil
sys.path.insert(0,os.path.dirname(__file__))
from dsl import *
HERE=os.path.dirname(os.path.abspath(__file__));ROOT=os.path.dirname(HERE)
import tempfile;TMP=os.path.join(tempfile.gettempdir(),'room_tmp');os.makedirs(TMP,exist_ok=True)
only=set(sys.argv[1:])
def run(*a,**k): return subprocess.run(['nice']+list(a),check=True,stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL if not k.get('err') else None,env=dict(os.environ,SOURCE_DATE_EPOCH='1740000000'))
def E(s): return html.escape(strip(s),quote=False)
STY='''@page{size:A4;margin:22mm 20mm 22mm 20mm;@bottom-center{content:"FOOT – " counter(page);font-size:8pt;color:#777}}
body{font-family:"FONT";font-size:10.5pt;line-height:1.42;hyphens:none} h1{font-size:16pt;color:#24425f;PB} h2{font-size:12pt;color:#24425f}
table{border-collapse:collapse;margin:6pt 0 10pt 0;font-size:9.5pt} td,th{border-bottom:.5pt solid #999;padding:2.5pt 9pt;text-align:right;white-space:nowrap} td:first-child,th:first-child{text-align:left;white-space:normal} th{background:#e4eaf0}
.cap{font-style:italic;font-size:9pt;margin-bottom:0} .note{font-size:8.5pt;color:#444} .cover{padding-top:70mm} .cover h1{font-size:26pt;page-break-before:avoid}'''
def tohtml(d,b,web=False):
    m=d.meta;o=[];inl=False
    pb='page-break-before:always' if m.get('pb')=='yes' else ''
    css=STY.replace('FOOT',m.get('foot',m['title'])).replace('FONT',m.get('font','Liberation Sans')).replace('PB',pb)
    o.append(f'<!DOCTYPE html><html lang="{m["lang"]}"><head><meta charset="utf-8"><title>{E(m["title"])}</title><meta name="author" content="{E(m.get("author",""))}"><meta name="dcterms.created" content="{m["date"]}"><meta name="date" content="{m["date"]}"><style>{css}</style></head><body>')
    if m.get('cover')=='yes': o.append(f'<div class="cover"><h1>{E(m["title"])}</h1><p>{E(m.get("sub",""))}</p><p>{E(m.get("author",""))}</p></div>')
    else: o.append(f'<h1 style="page-break-before:avoid">{E(m["title"])}</h1><p class="note">{E(m.get("sub",""))}</p>')
    for t,x in b:
        if t!='li' and inl: o.append('</ul>');inl=False
        if t=='h1': o.append(f'<h1>{E(x)}</h1>' if not web else f'<h2>{E(x)}</h2>')
        elif t=='h2': o.append(f'<h2>{E(x)}</h2>' if not web else f'<h3>{E(x)}</h3>')
        elif t=='p': o.append(f'<p>{E(x)}</p>')
        elif t=='cap': o.append(f'<p class="cap">{E(x)}</p>')
        elif t=='note': o.append(f'<p class="note">{E(x)}</p>')
        elif t=='li':
            if not inl: o.append('<ul>');inl=True
            o.append(f'<li>{E(x)}</li>')
        elif t=='pb': o.append('<div style="page-break-before:always"></div>')
        elif t=='table':
            o.append('<table><thead><tr>'+''.join(f'<th>{E(c)}</th>' for c in x[0])+'</tr></thead><tbody>')
            for r in x[1:]: o.append('<tr>'+''.join(f'<td>{E(c)}</td>' for c in r)+'</tr>')
            o.append('</tbody></table>')
    if inl: o.append('</ul>')
    o.append('</body></html>');return '\n'.join(o)
def r_reportlab(d,b,out):
    from reportlab.platypus import SimpleDocTemplate,Paragraph,Table,TableStyle,Spacer,PageBreak,ListFlowable
    from reportlab.lib.styles import getSampleStyleSheet,ParagraphStyle
    from reportlab.lib import colors
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    import reportlab.rl_config as rc
    rc.invariant=1
    fd='/usr/share/fonts/truetype/'
    serif=d.meta.get('font')=='serif'
    n,bn=('LiberationSerif-Regular','LiberationSerif-Bold') if serif else('LiberationSans-Regular','LiberationSans-Bold')
    pdfmetrics.registerFont(TTFont('N',fd+f'liberation/{n}.ttf'));pdfmetrics.registerFont(TTFont('B',fd+f'liberation/{bn}.ttf'))
    m=d.meta
    P=ParagraphStyle('p',fontName='N',fontSize=10.5,leading=15,spaceAfter=8);H1=ParagraphStyle('h1',fontName='B',fontSize=16,leading=20,spaceAfter=8,spaceBefore=8,textColor=colors.HexColor('#1f3d5a'));H2=ParagraphStyle('h2',parent=H1,fontSize=12,leading=15)
    C=ParagraphStyle('c',parent=P,fontSize=9,leading=11,spaceAfter=2);N=ParagraphStyle('n',parent=P,fontSize=8.5,leading=11,textColor=colors.HexColor('#444444'));TC=ParagraphStyle('tc',parent=P,fontSize=9,leading=11,spaceAfter=0)
    fl=[]
    if m.get('cover')=='yes': fl+=[Spacer(1,200),Paragraph(E(m['title']),ParagraphStyle('t',parent=H1,fontSize=26,leading=32)),Paragraph(E(m.get('sub','')),P),Paragraph(E(m.get('author','')),P)]
    else: fl+=[Paragraph(E(m['title']),H1),Paragraph(E(m.get('sub','')),N)]
    first=m.get('cover')!='yes'
    for t,x in b:
        if t=='h1':
            if m.get('pb')=='yes' and not first: fl.append(PageBreak())
            first=False;fl.append(Paragraph(E(x),H1))
        elif t=='h2': fl.append(Paragraph(E(x),H2))
        elif t=='p': fl.append(Paragraph(E(x),P))
        elif t=='cap': fl.append(Paragraph(E(x),C))
        elif t=='note': fl.append(Paragraph(E(x),N))
        elif t=='li': fl.append(Paragraph('• '+E(x),ParagraphStyle('li',parent=P,leftIndent=14,spaceAfter=3)))
        elif t=='pb': fl.append(PageBreak())
        elif t=='table':
            nc=len(x[0]);w=465.0
            maxl=[max(len(strip(r[i])) if i<len(r) else 0 for r in x) for i in range(nc)]
            maxl=[min(max(v,6),48) for v in maxl];ws=[w*v/sum(maxl) for v in maxl]
            data=[[Paragraph(E(c),TC) for c in r]+['']*(nc-len(r)) for r in x]
            tb=Table(data,colWidths=ws,repeatRows=1);tb.setStyle(TableStyle([('BACKGROUND',(0,0),(-1,0),colors.HexColor('#dfe7ef')),('LINEBELOW',(0,0),(-1,-1),.4,colors.grey),('VALIGN',(0,0),(-1,-1),'TOP')]));fl+=[tb,Spacer(1,8)]
    def foot(c,doc):
        c.setFont('N',8);c.setFillColor(colors.grey);c.drawString(60,28,m.get('foot',m['title'])+'  |  Page %d'%doc.page)
    doc=SimpleDocTemplate(out,pagesize=(595,842),leftMargin=62,rightMargin=62,topMargin=60,bottomMargin=56,title=m['title'],author=m.get('author',''),subject=m.get('subject',''),creator=m.get('creator','Report Writer'))
    doc.build(fl,onFirstPage=foot,onLaterPages=foot)
def r_weasy(d,b,out):
    import weasyprint
    weasyprint.HTML(string=tohtml(d,b)).write_pdf(out)
def r_wk(d,b,out):
    h=TMP+'/'+re.sub(r'\W','_',d.file)+'.html';open(h,'w',encoding='utf8').write(tohtml(d,b).replace('</style>','body{font-size:16pt} h1{font-size:24pt} h2{font-size:18pt} table{font-size:14pt} .cap{font-size:13pt} .note{font-size:12pt}</style>'))
    subprocess.run(['nice','wkhtmltopdf','--quiet','--title',d.meta['title'],'-T','22','-B','20','-L','20','-R','20',h,out],env=dict(os.environ,QT_QPA_PLATFORM='offscreen'),stderr=subprocess.DEVNULL)
    assert os.path.exists(out)
def r_groff(d,b,out):
    m=d.meta
    def g(s):
        s=strip(s).replace('\\','\\e')
        s=s.replace('€','\\[Eu]').replace('–','\\[en]').replace('—','\\[em]').replace('’',"\\[cq]").replace('“','\\[lq]').replace('”','\\[rq]').replace('„','\\[Bq]').replace('-','\\-')
        if s[:1] in ".'": s='\\&'+s
        return s
    o=['.nr PS 11','.nr VS 15','.nr LL 6.4i','.nr PO 0.95i','.hy 0','.nr HY 0','.ds LH '+g(m.get('foot',m['title'])),'.ds CH','.ds RH','.ds CF %','.TL',g(m['title']),'.AU',g(m.get('author',''))or'\\&','.AI',g(m.get('sub',''))or'\\&']
    first=True
    for t,x in b:
        if t=='h1':
            if m.get('pb')=='yes' and not first:o.append('.bp')
            first=False;o+=['.SH 1',g(x)]
        elif t=='h2': o+=['.SH 2',g(x)]
        elif t in('p','cap','note'): o+=['.LP',g(x)]
        elif t=='li': o+=['.IP \\(bu 2',g(x)]
        elif t=='pb': o.append('.bp')
        elif t=='table':
            nc=len(x[0]);o+=['.TS','tab(@);','lb'+' rb'*(nc-1),'l'+' r'*(nc-1)+'.']
            for i,r in enumerate(x):
                o.append('@'.join(g(c) for c in r))
                if i==0:o.append('_')
            o.append('.TE')
    src=TMP+'/'+re.sub(r'\W','_',d.file)+'.ms';open(src,'w',encoding='utf8').write('\n'.join(o)+'\n')
    ps=src+'.ps'
    open(ps,'wb').write(subprocess.run(['nice','groff','-k','-t','-ms','-Tps','-dpaper=a4','-P-pa4',src],check=True,capture_output=True).stdout)
    run('ps2pdf','-sPAPERSIZE=a4',ps,out)
    import shutil as sh
    pm=src+'.pdfmark';open(pm,'w').write(f'[ /Title ({m["title"].encode("ascii","replace").decode()}) /Author ({m.get("author","").encode("ascii","replace").decode()}) /CreationDate (D:{m["date"].replace("-","")}090000) /DOCINFO pdfmark\n')
    run('gs','-q','-dBATCH','-dNOPAUSE','-sDEVICE=pdfwrite','-sOutputFile='+out+'.t',ps,pm);os.replace(out+'.t',out)
def r_lo(d,b,out):
    x=TMP+'/'+os.path.basename(out)[:-4]+'.docx';r_pydocx(d,b,x)
    run('soffice','--headless','--convert-to','pdf','--outdir',os.path.dirname(out),x)
def r_pydocx(d,b,out):
    import docx
    from docx.shared import Pt
    from docx.enum.text import WD_BREAK
    m=d.meta;D=docx.Document()
    cp=D.core_properties;cp.title=m['title'];cp.author=m.get('author','');cp.subject=m.get('subject','')
    dt=datetime.datetime.fromisoformat(m['date']+'T09:00:00');cp.created=dt;cp.modified=dt;cp.last_modified_by=m.get('author','')
    D.styles['Normal'].font.name='Liberation Serif' if m.get('font')=='serif' else 'Calibri';D.styles['Normal'].font.size=Pt(11)
    D.sections[0].footer.paragraphs[0].text=m.get('foot',m['title'])
    D.add_heading(strip(m['title']),0)
    if m.get('sub'): D.add_paragraph(m['sub'])
    first=True
    for t,x in b:
        s=strip(x) if isinstance(x,str) else x
        if t=='h1':
            if m.get('pb')=='yes' and not first:D.add_page_break()
            first=False;D.add_heading(s,1)
        elif t=='h2': D.add_heading(s,2)
        elif t in('p',): D.add_paragraph(s)
        elif t=='cap': D.add_paragraph(s,style='Caption')
        elif t=='note': p=D.add_paragraph();r=p.add_run(s);r.italic=True;r.font.size=Pt(9)
        elif t=='li': D.add_paragraph(s,style='List Bullet')
        elif t=='pb': D.add_page_break()
        elif t=='table':
            T=D.add_table(rows=0,cols=len(x[0]));T.style='Light Grid Accent 1'
            for r in x:
                cs=T.add_row().cells
                for i,c in enumerate(r): cs[i].text=strip(c)
    D.save(out)
def js(kind,d,b,out):
    bb=[]
    for t,x in b: bb.append([t,strip(x) if isinstance(x,str) else [[strip(c) for c in r] for r in x]])
    j=TMP+'/'+re.sub(r'\W','_',d.file)+'.json';json.dump(dict(kind=kind,meta=d.meta,blocks=bb,out=out,grid=getattr(d,'grid',None)),open(j,'w'))
    subprocess.run(['nice','node',HERE+'/render.js',j],check=True)
NUM=re.compile(r'^-?\d{1,3}(,\d{3})*(\.\d+)?%?$|^-?\d+(\.\d+)?%?$')
def grid(d,b):
    """sheets: [{name, rows:[[{v,f,s}]]}]; also where each finding fell"""
    from openpyxl.utils import get_column_letter as gl
    sheets=[];cur=None;pos={}
    k=0;fi=iter(d.findings)
    def cell(raw,bold=False):
        t=strip(raw);form=None
        if t.startswith('=') and '~' in t: form,t=t.split('~',1)
        if NUM.match(t) and not re.fullmatch(r'(19|20)\d\d',t):
            pct=t.endswith('%');u=t.rstrip('%').replace(',','');dec=len(u.split('.')[1]) if '.' in u else 0
            from decimal import Decimal
            v=float(Decimal(u)/100) if pct else (float(u) if dec else int(u))
            f=('0'+('.'+'0'*dec if dec else '')+'%') if pct else(('#,##0' if (',' in t or abs(float(u))<1000) else '0')+('.'+'0'*dec if dec else ''))
            return dict(v=v,f=f,s=bold,form=form)
        return dict(v=t,f=None,s=bold)
    def loc(raw,sh,r,c):
        for m in F.finditer(raw):
            f=next(fi);f['place']="'%s'!%s%d"%(sh,gl(c),r)
            f['as_written']=f['as_written'].split('~')[-1]
    for t,x in b:
        if t=='sheet': cur=dict(name=x,rows=[]);sheets.append(cur);continue
        if cur is None: cur=dict(name='Sheet1',rows=[]);sheets.append(cur)
        if t=='table':
            for i,r in enumerate(x):
                cur['rows'].append([cell(c,i==0) for c in r]);n=len(cur['rows'])
                for ci,c in enumerate(r): loc(c,cur['name'],n,ci+1)
            cur['rows'].append([])
        elif t in('h1','h2','p','cap','note','li'):
            cur['rows'].append([dict(v=strip(x),f=None,s=t in('h1','h2'))]);loc(x,cur['name'],len(cur['rows']),1)
            if t in('h1','p'): cur['rows'].append([])
    return sheets
def r_openpyxl(d,b,out):
    import openpyxl
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter as gl
    W=openpyxl.Workbook();W.remove(W.active);dt=datetime.datetime.fromisoformat(d.meta['date']+'T09:00:00')
    W.properties.title=d.meta['title'];W.properties.creator=d.meta.get('author','');W.properties.created=dt;W.properties.modified=dt
    for s in d.grid:
        w=W.create_sheet(s['name'])
        for i,r in enumerate(s['rows'],1):
            for j,c in enumerate(r,1):
                if c['v']=='':continue
                q=w.cell(i,j,c['v'])
                if c['f']:q.number_format=c['f']
                if c['s']:q.font=Font(bold=True)
        for j in range(1,9): w.column_dimensions[gl(j)].width=34 if j==1 else 16
    W.save(out)
def r_xlsxwriter(d,b,out):
    import xlsxwriter
    W=xlsxwriter.Workbook(out);W.set_properties(dict(title=d.meta['title'],author=d.meta.get('author',''),created=datetime.datetime.fromisoformat(d.meta['date']+'T09:00:00')))
    fm={}
    for s in d.grid:
        w=W.add_worksheet(s['name']);w.set_column(0,0,36);w.set_column(1,8,15)
        for i,r in enumerate(s['rows']):
            for j,c in enumerate(r):
                if c['v']=='':continue
                k=(c['f'],c['s'])
                if k not in fm:
                    p={}
                    if c['f']:p['num_format']=c['f']
                    if c['s']:p['bold']=True
                    fm[k]=W.add_format(p)
                if c.get('form'): w.write_formula(i,j,c['form'],fm[k],c['v'])
                elif isinstance(c['v'],str): w.write_string(i,j,c['v'],fm[k])
                else: w.write_number(i,j,c['v'],fm[k])
    W.close()
def plainlines(b):
    o=[]
    import textwrap
    glue=lambda x:F.sub(lambda m:m.group(1).split('|')[-1].replace(' ','\x01'),x)
    for t,x in b:
        if t=='table':
            ws=[max(len(strip(r[i])) for r in x if i<len(r)) for i in range(len(x[0]))]
            for r in x: o.append('  '.join(strip(c).ljust(ws[i]) if i==0 else strip(c).rjust(ws[i]) for i,c in enumerate(r)).rstrip())
            o.append('')
        elif t in('h1','h2'): o+=['',strip(x),('=' if t=='h1' else '-')*len(strip(x)),'']
        elif t=='li': o+=textwrap.wrap('- '+glue(x),92,subsequent_indent='  ',break_on_hyphens=False)
        elif t in('p','cap','note'): o+=textwrap.wrap(glue(x),92,break_on_hyphens=False)+['']
    return [l.replace('\x01',' ') for l in o]
def r_txt(d,b,out): open(out,'w',encoding=d.meta.get('enc','utf8')).write('\n'.join([d.meta['title'],d.meta.get('sub','')]+plainlines(b))+'\n')
def r_csv(d,b,out):
    sep=d.meta.get('sep',',');o=[]
    for t,x in b:
        if t=='table':
            for r in x:
                cs=[strip(c) for c in r];o.append(sep.join('"%s"'%c.replace('"','""') if sep in c or '"' in c else c for c in cs))
        else: o.append(strip(x))
    open(out,'w',encoding='utf8').write('\n'.join(o)+'\n')
def r_html(d,b,out): open(out,'w',encoding='utf8').write(tohtml(d,b,True))
def r_eml(d,b,out):
    m=d.meta;body='\n'.join(plainlines(b))
    H=[f'From: {m["from"]}',f'To: {m["to"]}',f'Subject: {m["title"]}',f'Date: {m["rfcdate"]}','Message-ID: <%s@grevenau.example>'%re.sub(r'\W','',d.file),'MIME-Version: 1.0']
    if m.get('attach'):
        import base64
        an,ac=m['attach'].split('::',1);ac=ac.replace('\\n','\n')
        B='=_heron_000'
        H+=[f'Content-Type: multipart/mixed; boundary="{B}"','',f'--{B}','Content-Type: text/plain; charset=utf-8','Content-Transfer-Encoding: 8bit','',strip(body),f'--{B}',f'Content-Type: text/csv; charset=utf-8; name="{an}"','Content-Transfer-Encoding: base64',f'Content-Disposition: attachment; filename="{an}"','',base64.encodebytes(strip(ac).encode()).decode().strip(),f'--{B}--','']
    else: H+=['Content-Type: text/plain; charset=utf-8','Content-Transfer-Encoding: 8bit','',body]
    open(out,'w',encoding='utf8').write('\n'.join(H)+'\n')
R=dict(reportlab=r_reportlab,weasyprint=r_weasy,wkhtmltopdf=r_wk,groff=r_groff,libreoffice=r_lo,pydocx=r_pydocx,openpyxl=r_openpyxl,xlsxwriter=r_xlsxwriter,txt=r_txt,csv=r_csv,html=r_html,eml=r_eml,
 pdfkit=lambda d,b,o:js('pdfkit',d,b,o),docxjs=lambda d,b,o:js('docx',d,b,o),pptx=lambda d,b,o:js('pptx',d,b,o),exceljs=lambda d,b,o:js('exceljs',d,b,o))
def load():
    D=[]
    for deal in('heron','osprey'):
        for p in sorted(glob.glob(f'{HERE}/spec/{deal}*.txt')): D+=parse_file(p,deal)
    return D
def prepare(d):
    b=blocks(d)
    if d.file.endswith('.xlsx'): d.grid=grid(d,b)
    return b
if __name__=='__main__':
    for d in load():
        if only and d.file not in only and not any(o.endswith('.txt') and False for o in only): continue
        b=prepare(d)
        try: R[d.meta['via']](d,b,f'{ROOT}/{d.deal}/files/{d.file}')
        except Exception as e: print('FAIL',d.file,repr(e)[:300])
